import { isUtf8 } from 'node:buffer';

import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';

import { yieldToEventLoop } from '../../common/event-loop.js';
import type { MemoryBudget } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { wrongMethod } from '../middleware/allowed-methods.js';
import { readBody } from './body-reader.js';
import { incomingBody } from './incoming-bodies.js';
import { findUnsafeJson } from './json-safety.js';

/** The one route that accepts very long lists and files, and reads its body itself. */
const BATCHES = /^\/run\/batch\/?$/i;

const LONGEST_BATCH_BYTES = 32 * 1_024 ** 2;

/** The limit for the JSON body of a batch, given the limit for other bodies. */
export const batchLimit = (limitBytes: number): number => Math.max(limitBytes, LONGEST_BATCH_BYTES);

/**
 * Parses JSON bodies up to `limitBytes` into `request.body`, which stays undefined if there is no body. The body of a
 * batch is left unread once its content type is known to be acceptable. The memory of the text and its value is
 * reserved in `memory` until the answer. Express' own parser accepts broken UTF-8 as replacement characters, treats
 * other content types like a missing body, and reads an upload that is too large to its end before it refuses it.
 */
export function parseJsonBodies(limitBytes: number, memory: MemoryBudget) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const incoming = incomingBody(request);
    if (!incoming) return next();
    if (READS.has(request.method)) {
      // No GET route reads a body, so it is dropped. Unread parts would stay in memory for as long as the answer lasts,
      // each with hundreds of extra bytes.
      request.resume();
      return next();
    }
    const isBatch = BATCHES.test(request.path);
    if (isBatch && isMultipart(request)) return next();
    if (!isJson(request.headers['content-type'])) {
      return next(
        wrongMethod(request, response) ??
          new UnsupportedMediaTypeException(
            'Send the body as JSON in UTF-8, with the header Content-Type: application/json',
          ),
      );
    }
    if (isBatch) return next();
    readBody(request, incoming, limitBytes, (error, body) => {
      if (error) return next(error);
      const hold = (bytes: number): void =>
        bytes > memory.largestBytes ? refuseForGood(bytes, memory) : incoming.memory.resize(bytes);
      const take = (value: unknown): void => {
        request.body = value;
        next();
      };
      if (body!.length > SMALL_BYTES) return void parseInSteps(body!, hold).then(take, next);
      try {
        request.body = parse(body!, hold);
      } catch (problem) {
        return next(problem);
      }
      next();
    });
  };
}

/**
 * Parsing a larger body takes up to some tenths of a second, so several at the same time would block everything else.
 */
const SMALL_BYTES = 64 * 1_024;

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A body that does not fit into an empty budget is a 413: after a 503 the client would send it again forever. */
function refuseForGood(bytes: number, { largestBytes }: MemoryBudget): never {
  throw new PayloadTooLargeException(
    `The body would take ${bytes} bytes of memory, and memory_budget allows ${largestBytes} to one request`,
  );
}

export const isUpload = (request: Request): boolean => BATCHES.test(request.path) && isMultipart(request);

export const isMultipart = ({ headers }: Request): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(headers['content-type'] ?? '');

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = /charset\s*=\s*"?([^"\s;]+)/.exec(parameters.join(';'))?.[1] ?? 'utf-8';
  return type!.trim() === 'application/json' && charset === 'utf-8';
}

/** `hold` receives the bytes of memory that the text and its value take, and may throw. */
function parse(body: Buffer, hold: (bytes: number) => void): unknown {
  return parseJson(textOf(body, hold), NAME);
}

/**
 * Like `parse`, but in steps. Each step, and the code that follows, has a turn of the event loop without other large
 * bodies.
 */
async function parseInSteps(body: Buffer, hold: (bytes: number) => void): Promise<unknown> {
  await yieldToEventLoop();
  const text = textOf(body, hold);
  const value = parseText(text, NAME);
  await yieldToEventLoop();
  safe(text, value, NAME);
  await yieldToEventLoop();
  return value;
}

const NAME = 'The body';

function textOf(body: Buffer, hold: (bytes: number) => void): string {
  if (!isUtf8(body)) throw new BadRequestException('The body is not valid UTF-8');
  hold(parsedSize(body));
  return body.toString('utf8');
}

/** Parses JSON that a client sent as `name`. Throws a 400 if it is not valid JSON, or not safe to handle. */
export function parseJson(text: string, name: string): unknown {
  return safe(text, parseText(text, name), name);
}

function safe(text: string, value: unknown, name: string): unknown {
  const problem = findUnsafeJson(text, value);
  if (problem) throw new BadRequestException(problem.replace(NAME, name));
  return value;
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.startsWith('\ufeff'))
      throw new BadRequestException(`${name} begins with a byte-order mark; JSON is sent without one`);
    throw new BadRequestException(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}

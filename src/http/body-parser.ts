import { isUtf8 } from 'node:buffer';
import { BadRequestException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { readBody } from './body-reader.js';
import { findUnsafeJson } from './json-safety.js';

/**
 * Parses JSON bodies up to `limitBytes` into `request.body`, which stays undefined where there is none. Express' own parser
 * lets broken UTF-8 through as replacement characters, answers other content types as if there were no body, and reads an
 * upload that is too large to its end before it says so.
 */
export function parseJsonBodies(limitBytes: number) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    if (!hasBody(request)) return next();
    if (!isJson(request.headers['content-type'])) {
      return next(new UnsupportedMediaTypeException('Send the body as JSON in UTF-8, with the header Content-Type: application/json'));
    }
    readBody(request, limitBytes, (error, body) => {
      if (error) return next(error);
      try {
        request.body = parse(body!);
      } catch (problem) {
        return next(problem);
      }
      next();
    });
  };
}

function hasBody({ method, headers }: Request): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = /charset\s*=\s*"?([^"\s]+)/.exec(parameters.join(';'))?.[1] ?? 'utf-8';
  return type!.trim() === 'application/json' && charset === 'utf-8';
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) throw new BadRequestException('The body is not valid UTF-8');
  const value = parseText(body.toString('utf8'));
  const problem = findUnsafeJson(value);
  if (problem) throw new BadRequestException(problem);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.startsWith('\ufeff')) throw new BadRequestException('The body begins with a byte-order mark; JSON is sent without one');
    throw new BadRequestException(`The body is not valid JSON: ${(error as Error).message}`);
  }
}

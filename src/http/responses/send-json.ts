import type { Response } from 'express';

import type { MemoryBudget } from '../../common/memory-budget.js';
import { TextInParts } from '../../common/text-in-parts.js';
import { WRITE_BYTES } from '../connections/slow-readers.js';
import { type Send, sendParts, write } from './send-parts.js';

/** A handler's answer that is already JSON text and is sent unchanged. */
export class JsonText {
  constructor(readonly text: string) {}
}

/**
 * About the memory that Node keeps for any connection. Smaller answers, such as errors, are sent even if no memory is
 * left.
 */
const SMALL = 16 * 1_024;

/**
 * Replaces Express' `response.json`, which computes and compares an ETag, and parses and rewrites the content type:
 * more work than finding an artifact by its id. Bytes that the client has not read yet stay reserved in the memory
 * budget.
 */
export function jsonSender(memory: MemoryBudget) {
  const send: Send = (response, text) => sendWhole(response, text, memory);
  return function sendJson(this: Response, body?: unknown): Promise<void> | void {
    return body instanceof TextInParts && body.atHand === null ? sendParts(this, body, send) : send(this, textOf(body));
  };
}

function textOf(body: unknown): string {
  if (body instanceof JsonText) return body.text;
  return body instanceof TextInParts ? body.atHand! : (JSON.stringify(body) ?? 'null');
}

/** Throws a DomainError `unavailable` if there is no memory; then nothing was sent. */
function sendWhole(response: Response, text: string, memory: MemoryBudget): Promise<void> | void {
  const bytes = Buffer.byteLength(text);
  const held = bytes > SMALL ? memory.reserve(bytes) : null;
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', bytes);
  if (bytes > WRITE_BYTES) return sendInWrites(response, text).finally(() => held!.release());
  // Pure ASCII is the same in both encodings, and latin1 is written without a conversion.
  response.end(text, bytes === text.length ? 'latin1' : 'utf8');
  if (hasLeft(response)) return held?.release();
  const waiting = held ?? memory.hold(bytes);
  if (response.closed) waiting.release();
  else response.once('close', () => waiting.release());
}

async function sendInWrites(response: Response, text: string): Promise<void> {
  await write(response, { text });
  response.end();
}

/**
 * Whether the operating system has taken all bytes, which happens immediately for clients that are not slow. A response
 * behind another one on the connection has no socket yet.
 */
const hasLeft = ({ socket }: Response): boolean => socket !== null && socket.writableLength === 0;

import type { Response } from 'express';
import type { MemoryBudget } from '../../common/memory-budget.js';
import { TextInParts } from '../../common/text-in-parts.js';
import { type Send, sendParts, write } from './send-parts.js';
import { WRITE_BYTES } from '../connections/slow-readers.js';

/** JSON that is there as text already; a handler's answer that goes out as it stands. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** About what Node keeps for any connection; smaller answers go out however little memory is left, as errors do. */
const SMALL = 16 * 1_024;

/**
 * Stands in for Express' `response.json`, which hashes for an ETag, compares it, and parses and rewrites the content type:
 * more work than finding an artifact by its id. What the client has not taken yet counts as memory that is held for it.
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

/** DomainError `unavailable`; then nothing was sent. */
function sendWhole(response: Response, text: string, memory: MemoryBudget): Promise<void> | void {
  const bytes = Buffer.byteLength(text);
  const held = bytes > SMALL ? memory.reserve(bytes) : null;
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', bytes);
  if (bytes > WRITE_BYTES) return sendInWrites(response, text).finally(() => held!.release());
  // ASCII alone is the same in both encodings, and latin1 is written without being converted.
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

/** The system has taken all of it: so do readers that are not slow, at once. Behind another answer it has no socket yet. */
const hasLeft = ({ socket }: Response): boolean => socket !== null && socket.writableLength === 0;

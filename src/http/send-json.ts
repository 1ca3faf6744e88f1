import type { Response } from 'express';

/** JSON that is there as text already; a handler's answer that goes out as it stands. */
export class JsonText {
  constructor(readonly text: string) {}
}

/**
 * Stands in for Express' `response.json`, which hashes for an ETag, compares it, and parses and rewrites the content type:
 * more work than finding an artifact by its id.
 */
export function sendJson(this: Response, body?: unknown): Response {
  const text = body instanceof JsonText ? body.text : (JSON.stringify(body) ?? 'null');
  if (!this.hasHeader('Content-Type')) this.setHeader('Content-Type', 'application/json; charset=utf-8');
  const bytes = Buffer.byteLength(text);
  this.setHeader('Content-Length', bytes);
  // ASCII alone is the same in both encodings, and latin1 is written without being converted.
  return this.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

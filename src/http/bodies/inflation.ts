import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { Request } from 'express';

import { CollectedBytes } from './collected-bytes.js';
import type { IncomingBody } from './incoming-bodies.js';
import { LARGER_PARTS_BYTES, LargerParts } from './larger-parts.js';

const DECOMPRESSORS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

const MIB = 1_024 * 1_024;

/** Bytes of memory that each decompressor takes from the first part on: its window, its tables and its last output. */
const DECOMPRESSOR_BYTES = { gzip: MIB / 16, deflate: MIB / 16, br: MIB };

/** Additional bytes for a window that grows while it fills. */
const GROWING_WINDOW_BYTES = { gzip: 0, deflate: 0, br: 16 * MIB };

type Encoding = keyof typeof DECOMPRESSORS;

const ENCODINGS = Object.keys(DECOMPRESSORS);

const isEncoding = (name: string): name is Encoding => Object.hasOwn(DECOMPRESSORS, name);

/** The largest allowed ratio. Text usually compresses to a tenth, and rarely to a thirtieth. */
const MOST_TIMES = 100;
const ALWAYS_ALLOWED_BYTES = 64 * 1_024;

/** The bytes to which a body of `compressedBytes` may inflate. */
const inflationBound = (compressedBytes: number): number =>
  Math.max(MOST_TIMES * compressedBytes, ALWAYS_ALLOWED_BYTES);

/** Throws a 413 if a body inflates to more than its bound or than `limitBytes`. */
function refuseLarge(inflatedBytes: number, compressedBytes: number, limitBytes: number): void {
  if (inflatedBytes > limitBytes) throw tooLarge(limitBytes);
  if (inflatedBytes > inflationBound(compressedBytes)) {
    throw new PayloadTooLargeException(
      `The body inflates to more than ${MOST_TIMES} times its compressed size; send it uncompressed`,
    );
  }
}

export const tooLarge = (limitBytes: number): Error =>
  new PayloadTooLargeException(`The body is larger than ${limitBytes} bytes`);

/**
 * The parts of a body as they arrive, inflated if it is compressed. Errors: those of `inflate`, 415 for an unknown
 * encoding, and 400 if the body is cut off. If the reader stops early, the rest is still received and dropped. `take`:
 * see CollectedBytes; it counts the memory besides the parts.
 */
export async function* inflatedParts(
  request: Request,
  incoming: IncomingBody,
  limitBytes: number,
  take: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const encoding = encodingOf(request);
  take(LARGER_PARTS_BYTES + (encoding === null ? 0 : DECOMPRESSOR_BYTES[encoding]));
  const windowBytes = encoding === null ? 0 : GROWING_WINDOW_BYTES[encoding];
  const parts = new LargerParts(request, incoming);
  const decompressor = encoding === null ? null : DECOMPRESSORS[encoding]();
  if (decompressor) parts.once('error', (error) => decompressor.destroy(error)).pipe(decompressor);
  let size = 0;
  try {
    for await (const part of (decompressor ?? parts).iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size < windowBytes) take(Math.min(part.length, windowBytes - size));
      size += part.length;
      refuseLarge(size, decompressor?.bytesWritten ?? size, limitBytes);
      yield part;
    }
  } catch (error) {
    throw asAnswer(error, encoding);
  } finally {
    parts.destroy();
    decompressor?.destroy();
  }
}

/** Null if the body is not compressed. Throws a 415 for an unknown encoding. */
export function encodingOf({ headers }: Request): Encoding | null {
  const name = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (name === 'identity') return null;
  if (isEncoding(name)) return name;
  throw new UnsupportedMediaTypeException(
    `Content-Encoding ${name} is not supported; use ${ENCODINGS.slice(0, -1).join(', ')} or ${ENCODINGS.at(-1)}`,
  );
}

function asAnswer(error: unknown, encoding: Encoding | null): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return encoding !== null && code !== 'ECONNRESET' ? damaged(encoding) : cutOff();
}

const damaged = (encoding: Encoding): Error => new BadRequestException(`The body does not decompress as ${encoding}`);

export const cutOff = (): Error => new BadRequestException('The request ended before its body was complete');

export type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Inflates a complete body. Calls `done` once. `take`: see CollectedBytes. At most one chunk beyond a bound is ever in
 * memory, because the decompressor waits until each chunk is read. Errors: 413, and 400 if the body does not match its
 * encoding.
 */
export function inflate(
  compressed: Buffer,
  encoding: Encoding,
  limitBytes: number,
  take: (bytes: number) => void,
  done: Done,
): void {
  try {
    take(DECOMPRESSOR_BYTES[encoding]);
  } catch (error) {
    return done(error as Error);
  }
  const stream = DECOMPRESSORS[encoding]();
  const inflated = new CollectedBytes(take);
  const end: Done = (error, body) => {
    stream.removeAllListeners('data').removeAllListeners('end').destroy();
    done(error, body);
  };
  stream.on('data', (chunk: Buffer) => {
    try {
      refuseLarge(inflated.size + chunk.length, compressed.length, limitBytes);
      inflated.add(chunk);
    } catch (error) {
      end(error as Error);
    }
  });
  stream.once('end', () => end(null, inflated.takeAll()));
  stream.once('error', () => end(damaged(encoding)));
  stream.end(compressed);
}

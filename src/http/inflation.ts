import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BadRequestException, PayloadTooLargeException } from '@nestjs/common';
import { CollectedBytes } from './collected-bytes.js';

const DECOMPRESSORS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

export type Encoding = keyof typeof DECOMPRESSORS;

export const ENCODINGS = Object.keys(DECOMPRESSORS);

export const isEncoding = (name: string): name is Encoding => Object.hasOwn(DECOMPRESSORS, name);

/** Text comes down to a tenth, and rarely to a thirtieth. */
const MOST_TIMES = 100;
const ALWAYS_ALLOWED_BYTES = 64 * 1_024;

/** To how many bytes a body of `compressedBytes` may inflate. */
const inflationBound = (compressedBytes: number): number => Math.max(MOST_TIMES * compressedBytes, ALWAYS_ALLOWED_BYTES);

/** What inflates to more than its bound, or than `limitBytes`: 413. */
export function refuseLarge(inflatedBytes: number, compressedBytes: number, limitBytes: number): void {
  if (inflatedBytes > limitBytes) throw tooLarge(limitBytes);
  if (inflatedBytes > inflationBound(compressedBytes)) {
    throw new PayloadTooLargeException(`The body inflates to more than ${MOST_TIMES} times its compressed size; send it uncompressed`);
  }
}

export const tooLarge = (limitBytes: number): Error => new PayloadTooLargeException(`The body is larger than ${limitBytes} bytes`);

export type Done = (error: Error | null, body?: Buffer) => void;

/**
 * Inflates a whole body; `done` is called once. `take`: as of CollectedBytes. No more than one chunk past a bound ever exists, since
 * the decompressor waits until each chunk is read. Errors: 413, and 400 where the body is not what its encoding says.
 */
export function inflate(compressed: Buffer, encoding: Encoding, limitBytes: number, take: (bytes: number) => void, done: Done): void {
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
  stream.once('error', () => end(new BadRequestException(`The body does not decompress as ${encoding}`)));
  stream.end(compressed);
}

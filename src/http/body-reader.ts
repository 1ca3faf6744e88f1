import type { Request } from 'express';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';

const DECOMPRESSORS = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

type Done = (error: Error | null, body?: Buffer) => void;

/**
 * The body, decompressed, up to `limitBytes`; `done` is called once. Errors: 413 too large (decompressed too, so that a small
 * archive cannot fill the memory), 415 unknown encoding, 400 cut off or not what its Content-Encoding says.
 */
export function readBody(request: Request, limitBytes: number, done: Done): void {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) done(tooLarge(limitBytes));
  else if (encoding === 'identity') collect(request, limitBytes, done);
  else if (isSupported(encoding)) decompress(request, encoding, limitBytes, done);
  else done(new UnsupportedMediaTypeException(`Content-Encoding ${encoding} is not supported; use gzip, deflate or br`));
}

const isSupported = (encoding: string): encoding is keyof typeof DECOMPRESSORS => Object.hasOwn(DECOMPRESSORS, encoding);

function decompress(request: Request, encoding: keyof typeof DECOMPRESSORS, limitBytes: number, done: Done): void {
  const stream = DECOMPRESSORS[encoding]();
  request.once('error', (error) => stream.destroy(error));
  collect(request.pipe(stream), limitBytes, (error, body) => {
    if (error) request.unpipe(stream);
    const damaged = error && 'code' in error;
    done(damaged ? new BadRequestException(`The body does not decompress as ${encoding}`) : error, body);
    stream.destroy();
  });
}

function collect(stream: Readable, limitBytes: number, done: Done): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let open = true;
  const finish: Done = (error, body) => {
    if (!open) return;
    open = false;
    done(error, body);
  };
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // The rest still flows, unread: a client that is cut off in mid-upload would not see the answer.
    if (size > limitBytes) finish(tooLarge(limitBytes));
    else if (open) chunks.push(chunk);
  });
  stream.once('end', () => finish(null, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  stream.once('error', (error) => finish('code' in error && error.code !== 'ECONNRESET' ? error : cutOff()));
}

const tooLarge = (limitBytes: number): Error => new PayloadTooLargeException(`The body is larger than ${limitBytes} bytes`);
const cutOff = (): Error => new BadRequestException('The request ended before its body was complete');

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer from 'multer';
import { DomainError } from '../../common/domain-error.js';
import { incomingBody } from '../../http/incoming-bodies.js';
import { TemporaryFile } from './temporary-file.js';
import type { UploadSpace } from './upload-space.js';

const MIB = 1_024 * 1_024;
const MAX_FILE_BYTES = 1_024 * MIB;
const MAX_REQUEST_BYTES = MIB;

/** What the parts of a request hold. */
export interface UploadParts {
  file: TemporaryFile;
  /** SHA-256 of the file's content. */
  digest: string;
  /** JSON. */
  request: string;
}

interface StoredFile {
  file: TemporaryFile;
  digest: string;
}

/** multer drops what was stored only where it has a path. */
type Stored = { path: string } & (StoredFile | { text: string });

const parserWith = (space: UploadSpace, onRefused: (error: Error) => void) => multer({
  storage: {
    _handleFile(_request, { fieldname, stream }, done) {
      const stored = fieldname === 'file' ? storeFile(stream, space, onRefused) : readRequest(stream);
      stored.then((info) => done(null, info as object), done);
    },
    _removeFile(_request, stored, done) {
      (stored as unknown as StoredFile).file.close().then(() => done(null), done);
    },
  },
  limits: { fileSize: MAX_FILE_BYTES, files: 2, fields: 1, fieldSize: MAX_REQUEST_BYTES, fieldNameSize: 100, fieldNestingDepth: 0 },
  // A browser sends JSON with a content type of its own as a file.
}).fields([{ name: 'file', maxCount: 1 }, { name: 'request', maxCount: 1 }]);

async function storeFile(stream: Readable, space: UploadSpace, onRefused: (error: Error) => void): Promise<Stored> {
  const file = await TemporaryFile.open(space, onRefused);
  const sum = createHash('sha256');
  try {
    // A stream that is destroyed fails too, and its error would come before what is wrong with the file.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      sum.update(chunk);
      await file.append(chunk);
    }
    file.arrived();
  } catch (error) {
    stream.resume();
    await file.close();
    throw error;
  }
  return { path: 'a temporary file', file, digest: sum.digest('base64url') };
}

async function readRequest(stream: NodeJS.ReadableStream): Promise<Stored> {
  let size = 0;
  const bounded = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_REQUEST_BYTES) throw new multer.MulterError('LIMIT_FIELD_VALUE');
      yield chunk;
    }
  };
  return { path: '', text: (await buffer(bounded())).toString('utf8') };
}

/**
 * Reads a multipart body as it comes; whoever gets the parts drops the file. Errors: 400, 413, 415, and `unavailable` where
 * the disk is full.
 */
export async function readUpload(request: Request, response: Response, space: UploadSpace): Promise<UploadParts> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + 2 * MIB) throw tooLarge();
  if (request.headers['content-encoding'] !== undefined) throw new UnsupportedMediaTypeException('Send a multipart/form-data body without Content-Encoding');
  await parsed(request, response, space);
  const parts = request.files as unknown as Partial<Record<'file' | 'request', Stored[]>>;
  const fields = request.body as { request?: string };
  const stored = parts.file?.[0] as StoredFile | undefined;
  const json = parts.request?.[0] as { text: string } | undefined;
  if (!stored) throw new BadRequestException(`${WANTED}; there was no file field \`file\``);
  const text = json?.text ?? fields.request;
  if (text !== undefined) return { ...stored, request: text };
  await stored.file.close();
  throw new BadRequestException(`${WANTED}; there was no field \`request\``);
}

function parsed(request: Request, response: Response, space: UploadSpace): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const incoming = incomingBody(request)!;
    // What it has stored until then, the parser drops when the connection ends.
    incoming.onRefused = reject;
    parserWith(space, (error) => incoming.refuse(error))(request, response, (error: unknown) => {
      incoming.onRefused = null;
      if (error) reject(asAnswer(error));
      else resolve();
    });
  });
}

const WANTED = 'Send one CSV as file field `file` and everything else as JSON in the field `request`';
const tooLarge = (): Error => new PayloadTooLargeException(`The uploaded file is larger than ${MAX_FILE_BYTES / MIB / 1_024} GiB`);

function asAnswer(error: unknown): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof DomainError) return error;
  if (syscall !== undefined && code !== 'ECONNRESET') return error;
  if (code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (code === 'LIMIT_FIELD_VALUE') return new PayloadTooLargeException(`The field request is larger than ${MAX_REQUEST_BYTES / MIB} MiB`);
  if (error instanceof multer.MulterError) return new BadRequestException(`${WANTED}, and nothing more`);
  return new BadRequestException(`The body is not valid multipart/form-data: ${message}`);
}

import { buffer } from 'node:stream/consumers';
import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer from 'multer';
import { DomainError } from '../../common/domain-error.js';
import { incomingBody } from '../../http/incoming-bodies.js';
import { dropUpload, keepUpload, type Upload } from './uploads.js';

const MIB = 1_024 * 1_024;
const MAX_FILE_BYTES = 1_024 * MIB;
const MAX_REQUEST_BYTES = MIB;

/** What the parts of a request hold. */
export interface UploadParts {
  file: Upload;
  /** JSON. */
  request: string;
}

type Stored = { path: string } & ({ upload: Upload } | { text: string });

const parse = multer({
  storage: {
    _handleFile(_request, { fieldname, stream }, done) {
      const stored = fieldname === 'file' ? storeFile(stream) : readRequest(stream);
      stored.then((info) => done(null, info as object), done);
    },
    _removeFile(_request, { path }, done) {
      dropUpload(path).then(() => done(null), done);
    },
  },
  limits: { fileSize: MAX_FILE_BYTES, files: 2, fields: 1, fieldSize: MAX_REQUEST_BYTES, fieldNameSize: 100, fieldNestingDepth: 0 },
  // A browser sends JSON with a content type of its own as a file.
}).fields([{ name: 'file', maxCount: 1 }, { name: 'request', maxCount: 1 }]);

async function storeFile(stream: NodeJS.ReadableStream): Promise<Stored> {
  const upload = await keepUpload(stream as never);
  return { path: upload.path, upload };
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
export async function readUpload(request: Request, response: Response): Promise<UploadParts> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + 2 * MIB) throw tooLarge();
  if (request.headers['content-encoding'] !== undefined) throw new UnsupportedMediaTypeException('Send a multipart/form-data body without Content-Encoding');
  await parsed(request, response);
  const parts = request.files as unknown as Partial<Record<'file' | 'request', Stored[]>>;
  const fields = request.body as { request?: string };
  const file = parts.file?.[0] as { upload: Upload } | undefined;
  const json = parts.request?.[0] as { text: string } | undefined;
  if (!file) throw new BadRequestException(`${WANTED}; there was no file field \`file\``);
  const text = json?.text ?? fields.request;
  if (text !== undefined) return { file: file.upload, request: text };
  await dropUpload(file.upload.path);
  throw new BadRequestException(`${WANTED}; there was no field \`request\``);
}

function parsed(request: Request, response: Response): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const incoming = incomingBody(request)!;
    // What it has stored until then, the parser drops when the connection ends.
    incoming.onRefused = reject;
    parse(request, response, (error: unknown) => {
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
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new DomainError('unavailable', 'The uploaded file cannot be kept: the disk for temporary files is full; free some space, and try again', { cause: error });
  }
  if (syscall !== undefined && code !== 'ECONNRESET') return error;
  if (code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (code === 'LIMIT_FIELD_VALUE') return new PayloadTooLargeException(`The field request is larger than ${MAX_REQUEST_BYTES / MIB} MiB`);
  if (error instanceof multer.MulterError) return new BadRequestException(`${WANTED}, and nothing more`);
  return new BadRequestException(`The body is not valid multipart/form-data: ${message}`);
}

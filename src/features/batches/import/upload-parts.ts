import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { MIMEType } from 'node:util';

import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer from 'multer';

import { DomainError } from '../../../common/domain-error.js';
import { CollectedBytes } from '../../../http/bodies/collected-bytes.js';
import type { IncomingBody } from '../../../http/bodies/incoming-bodies.js';
import { LARGER_PARTS_BYTES, LargerParts } from '../../../http/bodies/larger-parts.js';
import { TemporaryFile } from './temporary-file.js';
import type { UploadSpace } from './upload-space.js';

const MIB = 1_024 * 1_024;
const MAX_FILE_BYTES = 1_024 * MIB;
const MAX_REQUEST_BYTES = MIB;

/** The parts of an upload. */
export interface UploadParts {
  file: TemporaryFile;
  /** SHA-256 of the file's content. */
  digest: string;
  /** The field `request` (JSON). */
  request: Buffer;
}

interface StoredFile {
  file: TemporaryFile;
  digest: string;
}

/** multer removes a stored file only if it has a path. */
type Stored = { path: string } & (StoredFile | { json: Buffer });

/** The destination of an upload. */
interface Upload {
  space: UploadSpace;
  incoming: IncomingBody;
  kept: ParserMemory;
}

const parserOf = (upload: Upload) =>
  multer({
    storage: {
      _handleFile(_request, { fieldname, stream }, done) {
        const stored = fieldname === 'file' ? storeFile(stream, upload) : readRequest(stream, upload);
        stored.then((info) => done(null, info as object), done);
      },
      _removeFile(_request, stored, done) {
        (stored as unknown as StoredFile).file.close().then(() => done(null), done);
      },
    },
    limits: {
      fileSize: MAX_FILE_BYTES,
      files: 2,
      fields: 1,
      fieldSize: MAX_REQUEST_BYTES,
      fieldNameSize: 100,
      fieldNestingDepth: 0,
    },
    // `request` may also be a file, because browsers send JSON with a content type as a file.
  }).fields([
    { name: 'file', maxCount: 1 },
    { name: 'request', maxCount: 1 },
  ]);

async function storeFile(stream: Readable, { space, incoming, kept }: Upload): Promise<Stored> {
  const file = await TemporaryFile.open(space, (error) => incoming.refuse(error));
  const sum = createHash('sha256');
  try {
    // Destroying the stream would raise another error, which would hide the first one.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      kept.comesOut(chunk.length);
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

async function readRequest(stream: Readable, { incoming, kept }: Upload): Promise<Stored> {
  const bytes = new CollectedBytes((taken) => incoming.grow(taken));
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      kept.comesOut(chunk.length);
      if (bytes.size + chunk.length > MAX_REQUEST_BYTES) throw new multer.MulterError('LIMIT_FIELD_VALUE');
      bytes.add(chunk);
    }
  } catch (error) {
    stream.resume();
    throw error;
  }
  return { path: '', json: bytes.takeAll() };
}

/**
 * Reads a multipart body as it arrives. The caller must close the file. Throws 400, 413, 415, and DomainError
 * `unavailable` if the disk is full or there is no memory.
 */
export async function readUpload(
  request: Request,
  response: Response,
  incoming: IncomingBody,
  space: UploadSpace,
): Promise<UploadParts> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + 2 * MIB) throw tooLarge();
  if (request.headers['content-encoding'] !== undefined)
    throw new UnsupportedMediaTypeException('Send a multipart/form-data body without Content-Encoding');
  const type = formType(request);
  incoming.grow(LARGER_PARTS_BYTES);
  const form = await parsed(request, type, response, {
    space,
    incoming,
    kept: new ParserMemory(incoming, MAX_REQUEST_BYTES),
  });
  const stored = form.files.file?.[0] as StoredFile | undefined;
  if (!stored) throw new BadRequestException(`${WANTED}; there was no file field \`file\``);
  try {
    return { ...stored, request: requestOf(form) };
  } catch (error) {
    await stored.file.close();
    throw error;
  }
}

/** Throws a 400 if the field is missing or not UTF-8. */
function requestOf({ files, body }: ParsedForm): Buffer {
  const part = files.request?.[0] as { json: Buffer } | undefined;
  if (part && isUtf8(part.json)) return part.json;
  if (!part && body.request === undefined) throw new BadRequestException(`${WANTED}; there was no field \`request\``);
  // The parser has replaced the bytes of a plain field that are not UTF-8.
  if (part || body.request!.includes('\ufffd')) throw new BadRequestException(NO_UTF8);
  return Buffer.from(body.request!);
}

/** The fields that the parser sets on the request. */
interface ParsedForm {
  files: Partial<Record<'file' | 'request', Stored[]>>;
  body: { request?: string };
}

const BOUNDARY = 'boundary';

/**
 * Returns the content type with its boundary as the only parameter. RFC 9110 (5.6.6) allows empty parameters, but the form
 * parser ignores a body whose content type has some. Throws BadRequestException if the boundary is missing.
 */
function formType({ headers }: Request): string {
  const boundary = new MIMEType(headers['content-type']!).params.get(BOUNDARY) ?? '';
  if (!/^[ -~]+$/.test(boundary)) throw new BadRequestException(NO_BOUNDARY);
  const type = new MIMEType('multipart/form-data');
  type.params.set(BOUNDARY, boundary);
  return String(type);
}

function parsed(request: Request, type: string, response: Response, upload: Upload): Promise<ParsedForm> {
  return new Promise<ParsedForm>((resolve, reject) => {
    const { incoming, kept } = upload;
    const form = Object.assign(new LargerParts(request, incoming), {
      headers: { ...request.headers, 'content-type': type },
    });
    // The parser then removes the files that it has stored.
    const refuse = (error: Error): void => {
      reject(error);
      form.destroy(error);
    };
    incoming.onRefused = refuse;
    parserOf(upload)(form as unknown as Request, response, (error: unknown) => {
      incoming.onRefused = null;
      if (error) reject(asAnswer(error));
      else resolve(form as unknown as ParsedForm);
    });
    form.on('data', (part: Buffer) => {
      try {
        kept.goesIn(part.length);
      } catch (error) {
        refuse(error as Error);
      }
    });
  });
}

const WANTED = 'Send one CSV as file field `file` and everything else as JSON in the field `request`';
const NO_BOUNDARY =
  'Name the boundary of the form in its header, such as Content-Type: multipart/form-data; boundary=abc';
const NO_END = 'it does not end with the boundary that its Content-Type names';
const NO_UTF8 = 'The field request is not valid UTF-8; a character U+FFFD in it must be written as \\ufffd';
const tooLarge = (): Error =>
  new PayloadTooLargeException(`The uploaded file is larger than ${MAX_FILE_BYTES / MIB / 1_024} GiB`);

function asAnswer(error: unknown): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof DomainError) return error;
  if (syscall !== undefined && code !== 'ECONNRESET') return error;
  if (code === 'LIMIT_FILE_SIZE') return tooLarge();
  if (code === 'LIMIT_FIELD_VALUE')
    return new PayloadTooLargeException(`The field request is larger than ${MAX_REQUEST_BYTES / MIB} MiB`);
  if (error instanceof multer.MulterError) return new BadRequestException(`${WANTED}, and nothing more`);
  const reason = message === 'Unexpected end of form' ? NO_END : message;
  return new BadRequestException(`The body is not valid multipart/form-data: ${reason}`);
}

/** A field becomes a string, which takes two bytes per character. */
const TIMES = 2;

/**
 * Counts the memory of an upload's parser: the bytes that went in, minus those that came out as the content of files.
 * The parser keeps a plain field until it is complete, and does not report it before.
 */
export class ParserMemory {
  private inside = 0;
  private counted = 0;

  /** `mostBytes` is the maximum size of a plain field. */
  constructor(
    private readonly incoming: IncomingBody,
    private readonly mostBytes: number,
  ) {}

  /** Throws DomainError `unavailable` if the memory budget is used up. */
  goesIn(bytes: number): void {
    this.inside += bytes;
    const kept = Math.min(this.inside, this.mostBytes);
    if (kept <= this.counted) return;
    this.incoming.grow(TIMES * (kept - this.counted));
    this.counted = kept;
  }

  comesOut(bytes: number): void {
    this.inside -= bytes;
  }
}

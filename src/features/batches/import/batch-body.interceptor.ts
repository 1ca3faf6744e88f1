import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';

import { LOGGER, type Logger } from '../../../common/logger.js';
import { parsedSize } from '../../../common/parsed-size.js';
import { Settings } from '../../../config/settings.js';
import { batchLimit, isMultipart, parseJson } from '../../../http/bodies/body-parser.js';
import { setAttachmentDigest } from '../../../http/bodies/held-body.js';
import { type IncomingBody, incomingBody } from '../../../http/bodies/incoming-bodies.js';
import { inflatedParts } from '../../../http/bodies/inflation.js';
import { type ListedItems, readListBody } from './list-body.js';
import { Spool } from './spool.js';
import type { TemporaryFile } from './temporary-file.js';
import { readUpload } from './upload-parts.js';
import { UploadSpace } from './upload-space.js';

/** The rows that came with a request: an uploaded CSV file, or the items of a list. */
export type BatchSource = { file: TemporaryFile } | { items: ListedItems };

const MIB = 1_024 * 1_024;

const sources = new WeakMap<Request, BatchSource>();

/** Returns the rows that came with a request. They are valid until the request is answered. */
export const batchSource = (request: Request): BatchSource | undefined => sources.get(request);

interface ReadBody {
  fields: unknown;
  source: BatchSource | null;
  /** Digest of the file or the list, which is not among the fields. */
  digest: string | null;
  close(): Promise<void>;
}

/**
 * Reads a batch's body into temporary files and splits it: the list or the CSV file becomes the source of rows, the
 * other fields become the request's body.
 */
@Injectable()
export class BatchBodyInterceptor implements NestInterceptor {
  constructor(
    private readonly settings: Settings,
    private readonly space: UploadSpace,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const incoming = incomingBody(request);
    if (!incoming) return next.handle();
    const { fields, source, digest, close } = await (isMultipart(request)
      ? this.readForm(request, http.getResponse<Response>(), incoming)
      : this.readJson(request, incoming));
    request.body = fields;
    if (source) sources.set(request, source);
    if (digest !== null) setAttachmentDigest(request, digest);
    return next.handle().pipe(finalize(() => void this.drop(close)));
  }

  private async readForm(request: Request, response: Response, incoming: IncomingBody): Promise<ReadBody> {
    const { file, digest, request: json } = await readUpload(request, response, incoming, this.space);
    try {
      incoming.memory.resize(parsedSize(json));
      return {
        fields: parseJson(json.toString('utf8'), 'The field request'),
        source: { file },
        digest,
        close: () => file.close(),
      };
    } catch (error) {
      await this.drop(() => file.close());
      throw error;
    }
  }

  private async readJson(request: Request, incoming: IncomingBody): Promise<ReadBody> {
    const spool = new Spool(
      this.space,
      (bytes) => incoming.grow(bytes),
      (error) => incoming.refuse(error),
    );
    const part = Math.max(this.settings.bodyLimitBytes, MIB);
    try {
      await fill(spool, request, incoming, batchLimit(this.settings.bodyLimitBytes));
      const { fields, items } = await readListBody(
        spool,
        { item: part, rest: part },
        incoming.memory,
        request.headers['x-idempotency-key'] !== undefined,
      );
      return { fields, source: items && { items }, digest: items?.digest ?? null, close: () => spool.close() };
    } catch (error) {
      await this.drop(() => spool.close());
      throw error;
    }
  }

  private async drop(close: () => Promise<void>): Promise<void> {
    try {
      await close();
    } catch (error) {
      this.logger.warn({ err: error }, 'a temporary file could not be closed');
    }
  }
}

/** Copies the body into the spool. It ends early if the request is refused. */
async function fill(spool: Spool, request: Request, incoming: IncomingBody, limitBytes: number): Promise<void> {
  const refusal = new Refusal();
  incoming.onRefused = (error) => refusal.refuse(error);
  let beside = 0;
  const parts = inflatedParts(request, incoming, limitBytes, (bytes) => {
    incoming.grow(bytes);
    beside += bytes;
  });
  try {
    for (;;) {
      const { done, value } = await refusal.orResult(parts.next());
      if (done) return spool.arrived();
      await spool.add(value);
    }
  } finally {
    incoming.onRefused = null;
    incoming.memory.grow(-beside);
    // It is not awaited, because the next part of a refused request may never come.
    void parts.return(undefined).catch(() => undefined);
  }
}

/**
 * Ends the wait for the next part when the request is refused. `Promise.race` with one promise for the refusal would keep
 * every part in memory, because that promise refers to the results of all races until it settles.
 */
class Refusal {
  private error: Error | null = null;
  private reject: (error: Error) => void = () => undefined;

  refuse(error: Error): void {
    this.error = error;
    this.reject(error);
  }

  /** Settles like `promise`, or rejects with the error of the refusal if that comes first. */
  async orResult<Result>(promise: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.error) reject(this.error);
      this.reject = reject;
      promise.then(resolve, reject);
    });
  }
}

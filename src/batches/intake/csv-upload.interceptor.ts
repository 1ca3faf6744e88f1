import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { finalize, type Observable } from 'rxjs';
import { LOGGER, type Logger } from '../../common/logger.js';
import { setAttachmentDigest } from '../../http/attachment-digest.js';
import { isMultipart, parseJson } from '../../http/body-parser.js';
import { readUpload } from './upload-parts.js';
import { dropUpload } from './uploads.js';

const uploads = new WeakMap<Request, string>();

/** The path of the CSV that came with a request, for `BatchIntake.fromCsv`; it holds until the request is answered. */
export const uploadedFile = (request: Request): string | undefined => uploads.get(request);

/** Takes a `multipart/form-data` body apart: the CSV into a temporary file, the JSON field `request` into the request's body. */
@Injectable()
export class CsvUploadInterceptor implements NestInterceptor {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!isMultipart(request)) return next.handle();
    const parts = await readUpload(request, http.getResponse<Response>());
    const { path, digest } = parts.file;
    const drop = (): void => {
      dropUpload(path).catch((error: unknown) => this.logger.warn({ err: error }, 'an upload could not be closed'));
    };
    try {
      request.body = parseJson(parts.request, 'The field request');
    } catch (error) {
      drop();
      throw error;
    }
    uploads.set(request, path);
    setAttachmentDigest(request, digest);
    return next.handle().pipe(finalize(drop));
  }
}

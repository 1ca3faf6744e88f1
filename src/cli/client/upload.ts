import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename } from 'node:path';

import { FormData } from 'undici';

import type { JsonObject } from '../../common/json.js';
import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { AnswerLost, ClientError } from './client-errors.js';
import { isUnavailable, retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';

/**
 * Creates a batch from a CSV file, which is read from disk while it is sent. If the answer is lost, the file is sent
 * again for up to a minute, as the same batch.
 */
export async function upload(
  server: Server,
  file: string,
  request: JsonObject,
  signal: AbortSignal,
): Promise<BatchBody> {
  const form = new FormData();
  // The request comes before the file, so that the server knows the request while it reads the rows.
  form.set('request', JSON.stringify(request));
  form.set('file', await openAsBlob(file, { type: 'text/csv' }), basename(file));
  // All tries have the same key, so that the server does not import the file twice if only its answer was lost.
  const headers = { 'X-Idempotency-Key': randomUUID() };
  const send = async (): Promise<BatchBody> => (await server.post<BatchBody>('/run/batch', form, headers, signal)).body;
  try {
    return await send();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnswerLost)) throw error;
    console.error('The answer was lost; sending the file again (this does not create a second batch)');
    return retryWhileUnavailable(send, console.error, signal).catch((last: unknown) => {
      throw isUnavailable(last) ? new ClientError(`${last.message}; ${whereItIsSeen(server)}`) : last;
    });
  }
}

/** The place to look for the batch of a file whose answer never arrived. */
export const whereItIsSeen = (server: Server): string =>
  `the server may still import the file; ${typedCommand(server.url, 'batch', 'list')} then shows the batch`;

/** Throws a ClientError if the file cannot be sent. */
export async function refuseUnreadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
    // A pipe or a device has no length and would be sent as an empty file.
    if ((await stat(file)).isFile()) return;
  } catch (error) {
    throw new ClientError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
  throw new ClientError(`${file} is not a regular file; name the CSV file to upload`);
}

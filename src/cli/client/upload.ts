import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FormData } from 'undici';
import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { JsonObject } from '../../common/json.js';
import { AnswerLost, ClientError } from './client-errors.js';
import { isUnavailable, retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';

/**
 * Makes a batch of a CSV file, which is read from disk as it is sent. Where the answer is lost, it is sent again for up to a
 * minute, as the same batch.
 */
export async function upload(server: Server, file: string, request: JsonObject, signal: AbortSignal): Promise<BatchBody> {
  const form = new FormData();
  // Before the file, so that a server that reads as it goes knows what the rows are for.
  form.set('request', JSON.stringify(request));
  form.set('file', await openAsBlob(file, { type: 'text/csv' }), basename(file));
  // One key for every try: what the server took in before its answer was lost is not taken in twice.
  const headers = { 'X-Idempotency-Key': randomUUID() };
  const send = async (): Promise<BatchBody> => (await server.post<BatchBody>('/run/batch', form, headers, signal)).body;
  try {
    return await send();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnswerLost)) throw error;
    console.error('The answer was lost; sending the file again, which makes no second batch');
    return retryWhileUnavailable(send, console.error, signal).catch((last: unknown) => {
      throw isUnavailable(last) ? new ClientError(`${last.message}; ${whereItIsSeen(server)}`) : last;
    });
  }
}

/** Of a file whose answer never came. */
export const whereItIsSeen = (server: Server): string => `the server may still take the file in: ${typedCommand(server.url, 'batch', 'list')} shows the batch when it has`;

/** ClientError where it is no file that can be sent. */
export async function refuseUnreadable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK);
    // A pipe or a device has no length, and would be sent as an empty file.
    if ((await stat(file)).isFile()) return;
  } catch (error) {
    throw new ClientError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
  throw new ClientError(`${file} is no regular file; name the CSV file to upload`);
}

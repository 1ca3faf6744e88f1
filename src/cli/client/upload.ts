import { openAsBlob } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FormData } from 'undici';
import type { BatchBody } from '../../batches/dto/batch-body.js';
import type { JsonObject } from '../../common/json.js';
import { ClientError } from './client-errors.js';
import type { Server } from './server.js';

/** Makes a batch of a CSV file, which is read from disk as it is sent. */
export async function upload(server: Server, file: string, request: JsonObject): Promise<BatchBody> {
  const form = new FormData();
  // Before the file, so that a server that reads as it goes knows what the rows are for.
  form.set('request', JSON.stringify(request));
  form.set('file', await openAsBlob(file, { type: 'text/csv' }), basename(file));
  const { body } = await server.post<BatchBody>('/run/batch', form);
  return body;
}

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

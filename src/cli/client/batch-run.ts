import { batchRequest, type BatchRequestOptions } from './batch-request.js';
import { follow } from './follow.js';
import { refuseUnwritable } from './results-file.js';
import { serverAt } from './server-option.js';
import { refuseUnreadable, upload } from './upload.js';

export interface BatchRunOptions extends BatchRequestOptions {
  url?: string;
  out?: string;
}

/** Makes a batch of a CSV file and watches it to its end. */
export async function runBatch(file: string, { url, out, ...options }: BatchRunOptions): Promise<void> {
  const server = serverAt(url);
  const request = await batchRequest(options);
  await refuseUnreadable(file);
  if (out !== undefined) await refuseUnwritable(out);
  console.error(`Sending ${file}; the server checks and stores every row before it answers`);
  const batch = await upload(server, file, request);
  console.error(`Batch ${batch.batch_id}`);
  await follow(server, batch, out);
}

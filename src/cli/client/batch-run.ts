import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { abortOnSigint, INTERRUPTED } from './abort-on-sigint.js';
import { batchRequest, type BatchRequestOptions } from './batch-options.js';
import { follow } from './follow.js';
import { refuseUnwritable } from './results-file.js';
import { serverAt } from './server.js';
import { inTypedOptions } from './typed-options.js';
import { refuseUnreadable, upload, whereItIsSeen } from './upload.js';

export interface BatchRunOptions extends BatchRequestOptions {
  url?: string;
  out?: string;
}

/** Creates a batch from a CSV file and watches it until it ends. */
export async function runBatch(file: string, { url, out, ...options }: BatchRunOptions): Promise<void> {
  const server = serverAt(url);
  const request = await batchRequest(options);
  await refuseUnreadable(file);
  if (out !== undefined) await refuseUnwritable(out);
  const signal = abortOnSigint();
  console.error(`Sending ${file}; the server checks and stores every row before it answers`);
  let batch: BatchBody;
  try {
    batch = await upload(server, file, request, signal);
  } catch (error) {
    if (!signal.aborted) throw inTypedOptions(error);
    console.error(`Stopped; ${whereItIsSeen(server)}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  console.error(`Batch ${batch.batch_id}`);
  await follow(server, batch, out, signal);
}

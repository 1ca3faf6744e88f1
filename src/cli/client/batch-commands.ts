import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { BatchListBody, ListedBatchBody } from '../../features/batches/dto/batch-list.js';
import { abortOnSigint, INTERRUPTED } from './abort-on-sigint.js';
import { batchRequest, type BatchRequestOptions, inTypedOptions } from './batch-options.js';
import { follow, lookAt } from './follow-batch.js';
import { count, summaryOf } from './progress.js';
import { refuseUnwritable } from './results-file.js';
import { serverAt } from './server.js';
import { programName } from './typed-command.js';
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

interface WatchOptions {
  url?: string;
  out?: string;
}

/** Watches a batch until it ends. For an ended batch, prints its result immediately. */
export async function watch(id: string, { url, out }: WatchOptions): Promise<void> {
  const server = serverAt(url);
  if (out !== undefined) await refuseUnwritable(out);
  await follow(server, await lookAt(server, id), out, abortOnSigint());
}

/** Runs the failed rows of an ended batch again and watches them. */
export async function retryFailed(id: string, { url, out }: WatchOptions): Promise<void> {
  const server = serverAt(url);
  if (out !== undefined) await refuseUnwritable(out);
  const { body } = await server.post<BatchBody>(`/batch/${encodeURIComponent(id)}/retry-failed`, null);
  await follow(server, body, out, abortOnSigint());
}

/** Cancels a batch and prints its progress. */
export async function cancel(id: string, { url }: { url?: string }): Promise<void> {
  const { body } = await serverAt(url).post<BatchBody>(`/batch/${encodeURIComponent(id)}/cancel`, null);
  console.log(summaryOf(body));
}

/** Fits on one or two screens. */
const SHOWN = 50;

/** Prints a line for each of the latest batches, newest first. */
export async function listBatches({ url }: { url?: string }): Promise<void> {
  const { items, pagination } = await serverAt(url).get<BatchListBody>(`/api/v1/batches?limit=${SHOWN}`);
  for (const batch of items) console.log(lineOf(batch));
  if (items.length === 0) console.error(`no batches yet; start one with ${programName()} batch run`);
  if (pagination.has_more)
    console.error(`these are the newest ${SHOWN}; see GET /api/v1/batches?offset=${SHOWN} for more`);
}

function lineOf({
  batch_id: id,
  agent_name: agent,
  status,
  completed_items: done,
  total_items: total,
  failed_items: failed,
  created_at: created,
}: ListedBatchBody): string {
  return `${id}  ${agent}  ${status}  ${count(done)}/${count(total)} rows, ${count(failed)} failed  ${created}`;
}

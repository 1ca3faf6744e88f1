import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { ListedBatchBody } from '../../features/batches/dto/batch-list.js';
import { abortOnSigint, INTERRUPTED } from './abort-on-sigint.js';
import { batchRequest, type BatchRequestOptions, inBatchOptions } from './batch-options.js';
import { type ClientOptions, connectionOf } from './connection.js';
import { follow, lookAt } from './follow-batch.js';
import { limitOf, printList } from './inspect/list.js';
import type { Column } from './printing/table.js';
import { count, toTheSecond } from './printing/texts.js';
import { summaryOf } from './progress.js';
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
    if (!signal.aborted) throw inBatchOptions(error);
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

/** Prints the latest batches, newest first. */
export async function listBatches({ limit, ...options }: ClientOptions & { limit?: string }): Promise<void> {
  const { server, output } = connectionOf(options);
  await printList<ListedBatchBody>(server, output, {
    path: '/api/v1/batches',
    filters: {},
    limit: limitOf(limit),
    columns: COLUMNS,
    none: `no batches yet; start one with ${programName()} batch run`,
  });
}

const COLUMNS: Column<ListedBatchBody>[] = [
  { title: 'BATCH', of: (batch) => batch.batch_id },
  { title: 'AGENT', of: (batch) => batch.agent_name, style: () => 'bold' },
  { title: 'STATE', of: ({ status }) => status },
  { title: 'ROWS', of: (batch) => `${count(batch.completed_items)}/${count(batch.total_items)}`, isRight: true },
  { title: 'FAILED', of: (batch) => count(batch.failed_items), isRight: true },
  { title: 'CREATED', of: (batch) => toTheSecond(batch.created_at) },
];

import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { abortOnSigint } from './abort-on-sigint.js';
import { follow } from './follow.js';
import { summaryOf } from './progress-text.js';
import { refuseUnwritable } from './results-file.js';
import { serverAt } from './server.js';
import { lookAt } from './watch-batch.js';

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

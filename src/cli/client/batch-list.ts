import type { BatchListBody, ListedBatchBody } from '../../features/batches/dto/batch-list-body.js';
import { count } from './progress-text.js';
import { serverAt } from './server.js';
import { programName } from './typed-command.js';

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

import type { BatchListBody, ListedBatchBody } from '../../features/batches/dto/batch-list-body.js';
import { count } from './progress-text.js';
import { serverAt } from './server-option.js';
import { programName } from './typed-command.js';

/** As many as fit a screen or two. */
const SHOWN = 50;

/** Prints a line for each of the newest batches, the newest first. */
export async function listBatches({ url }: { url?: string }): Promise<void> {
  const { items, pagination } = await serverAt(url).get<BatchListBody>(`/api/v1/batches?limit=${SHOWN}`);
  for (const batch of items) console.log(lineOf(batch));
  if (items.length === 0) console.error(`no batches yet; ${programName()} batch run makes one`);
  if (pagination.has_more) console.error(`these are the newest ${SHOWN}; GET /api/v1/batches?offset=${SHOWN} goes on`);
}

function lineOf({ batch_id: id, agent_name: agent, status, completed_items: done, total_items: total, failed_items: failed, created_at: created }: ListedBatchBody): string {
  return `${id}  ${agent}  ${status}  ${count(done)}/${count(total)} rows, ${count(failed)} failed  ${created}`;
}

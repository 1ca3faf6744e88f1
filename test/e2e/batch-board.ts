import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';

export interface Item {
  index: number;
  run_id: string;
  status: string;
  started_at?: string;
  result?: Record<string, unknown>;
  error?: string;
}

export interface Batch {
  batch_id: string;
  status: string;
  total_items: number;
  completed_items: number;
  failed_items: number;
  progress_percentage: number;
  results: Item[];
  started_at?: string;
  completed_at?: string;
  error?: string;
}

/** Sends a batch and returns its id. */
export async function send(board: Board, agent: string, inputs: object[], more: object = {}): Promise<string> {
  const { body } = await board.http
    .post('/run/batch')
    .send({ agent_name: agent, batch_inputs: inputs, ...more })
    .expect(200);
  return (body as Batch).batch_id;
}

export const show = async (board: Board, id: string, query: object = {}): Promise<Batch> =>
  (await board.http.get(`/batch/${id}`).query(query).expect(200)).body as Batch;

/** Waits until the batch has finished, and returns it with its first 10,000 results. */
export async function ended(board: Board, id: string): Promise<Batch> {
  let batch = await show(board, id, { results_limit: 0 });
  await eventually(`batch ${id} has finished`, async () => {
    batch = await show(board, id, { results_limit: 0 });
    return batch.completed_at !== undefined;
  });
  return show(board, id, { results_limit: 10_000 });
}

/** `n` counts from 0. */
export const orders = (count: number, more: object = {}): object[] =>
  Array.from({ length: count }, (_, n) => ({ n, ...more }));

/** One invocation of the agent below, which continues when the test opens its gate. */
export interface Gate {
  n: number;
  batch: string;
  isAborted: boolean;
  open(): void;
  fail(): void;
}

/** Returns a module for a function agent whose every invocation waits for the test. */
export const GATE = `globalThis.batchGates ??= [];
export default ([{ payload }], { signal }) =>
  new Promise((resolve, reject) => {
    const gate = { ...payload, isAborted: false, open: () => resolve({ n: payload.n }), fail: () => reject(new Error('shut')) };
    signal.addEventListener('abort', () => { gate.isAborted = true; reject(signal.reason); });
    globalThis.batchGates.push(gate);
  });`;

/** Returns all invocations so far of the rows with this `batch`, in the order of their starts. */
export const gatesOf = (batch: string): Gate[] =>
  ((globalThis as unknown as { batchGates?: Gate[] }).batchGates ?? []).filter((gate) => gate.batch === batch);

export const started = (batch: string, count: number): Promise<void> =>
  eventually(`${count} rows of ${batch} have started`, () => gatesOf(batch).length >= count);

/** Opens the gates of these batches as they appear, until `isOver`. */
export const openAll = (batches: string[], isOver: () => Promise<boolean>): Promise<void> =>
  eventually('all gates were opened', async () => {
    batches.flatMap(gatesOf).forEach((gate) => gate.open());
    return isOver();
  });

/** Opens the gates of these rows until their batches have finished. */
export const finish = (board: Board, ids: string[], names: string[]): Promise<void> =>
  openAll(names, async () =>
    (await Promise.all(ids.map((id) => show(board, id, { results_limit: 0 })))).every(
      ({ completed_at }) => completed_at !== undefined,
    ),
  );

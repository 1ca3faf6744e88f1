import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';

export interface Operation {
  operation_id: string;
  kind: string;
  filter: object;
  state: string;
  matched: number;
  done: number;
  failed: number;
  last_error: string | null;
  ended_at: string | null;
}

type Http = Board['http'];

export const operationAt = async (http: Http, id: string): Promise<Operation> =>
  (await http.get(`/api/v1/operations/${id}`).expect(200)).body as Operation;

/** Waits until the operation has ended, and returns it. */
export async function endedOperation(http: Http, id: string): Promise<Operation> {
  let operation = await operationAt(http, id);
  await eventually(`operation ${id} has ended`, async () => {
    operation = await operationAt(http, id);
    return operation.state !== 'running';
  });
  return operation;
}

/** Starts an operation and waits for its end. */
export async function operate(http: Http, kind: 'retry' | 'fail', body: object): Promise<Operation> {
  const started = (await http.post(`/api/v1/executions/${kind}`).send(body).expect(200)).body as Operation;
  return endedOperation(http, started.operation_id);
}

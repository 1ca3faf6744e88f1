import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { settledBreaches } from '../../faults/invariants.js';
import type { TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { answers, Receiver } from '../../support/receiver.js';
import { Service } from '../../support/service.js';

const CONFIG = join(import.meta.dirname, 'starling.yaml');

const JOBS = 5;
const ROWS = 6;

/** The types of the artifacts that each correlation ends with, in order. The batch's have generated ids. */
const FINISHED: Record<string, string[]> = {
  ...Object.fromEntries(Array.from({ length: JOBS }, (_, n) => [`job-${n}`, ['Job', 'Done']])),
  pair: ['Left', 'Right', 'Pair'],
  request: ['Request', 'Approval'],
  noted: ['Note', 'Note'],
  window: ['Event', 'Event', 'Summary'],
  late: ['Late', 'Greeting'],
};

/** The part of a claim's answer with which an external worker completes it. */
export interface Claim {
  execution_id: string;
  lease_token: string;
}

/** How much of each kind of work is in flight after `accept`. */
export const IN_FLIGHT = {
  'running executions': 4,
  'pending executions': JOBS - 2,
  'claims of external workers': 1,
  'groups that wait': 2,
  timers: 2,
  'rows of a batch that have finished': 2,
  'deliveries without an answer': 1,
  'deliveries behind it': 1,
};

/** Work of every kind that a started process accepts, and that a later process, of another version, has to finish. */
export class WorkInFlight {
  /** Set by `accept`, and for a dump by its record of the claim. */
  claim: Claim | undefined;

  private constructor(
    private readonly folder: string,
    readonly database: TestDatabase,
    readonly receiver: Receiver,
  ) {}

  static async with(folder: string, database: TestDatabase): Promise<WorkInFlight> {
    return new WorkInFlight(folder, database, await Receiver.start());
  }

  start(): Promise<Service> {
    const args = ['--config', CONFIG, '--database-url', this.database.url, '--lease', '1s', '--log-level', 'warn'];
    return Service.start([...args, '--outbound-allow', '127.0.0.0/8'], { GATE: this.gate });
  }

  /** Resolves when all of `IN_FLIGHT` is stored. Timed work comes last, because it waits for some seconds only. */
  async accept(service: Service): Promise<void> {
    this.receiver.on('/hook', () => undefined);
    for (let n = 0; n < JOBS; n += 1) await publish(service, `job-${n}`, 'Job', { payload: { n: n + 2 } });
    const batch_inputs = Array.from({ length: ROWS }, (_, n) => ({ n }));
    await post(service, '/run/batch', { agent_name: 'clerk', batch_inputs, max_workers: 2 });
    await publish(service, 'pair', 'Left', { payload: { n: 1 } });
    await publish(service, 'request', 'Request');
    const claim = { agents: ['approver'], wait: 10, claimed_by: 'anna' };
    const { executions } = await post<{ executions: Claim[] }>(service, '/api/v1/executions/claim', claim);
    const { execution_id, lease_token } = executions[0]!;
    this.claim = { execution_id, lease_token };
    const webhook = { url: this.receiver.url('/hook') };
    await publish(service, 'noted', 'Note', { webhook });
    await publish(service, 'noted', 'Note', { webhook });
    const withoutTimed = { ...IN_FLIGHT, 'groups that wait': 1, timers: 0 };
    await eventually('the work is in flight', async () => isDeepStrictEqual(await this.inFlight(), withoutTimed));
    await publish(service, 'late', 'Late', { payload: { n: 1 }, visibility: { kind: 'After', ttl: 'PT15S' } });
    await publish(service, 'window', 'Event');
    await publish(service, 'window', 'Event');
  }

  /** Counts what is in flight, as `IN_FLIGHT`. */
  async inFlight(): Promise<typeof IN_FLIGHT> {
    const count = async (from: string): Promise<number> =>
      (await this.database.rows<{ count: number }>(`select count(*) as count from ${from}`))[0]!.count;
    const [batch] = await this.database.rows<{ done: number }>(`select succeeded_items as done from batches`);
    return {
      'running executions': await count(`executions where state = 'running' and claimed_by is null`),
      'pending executions': await count(`executions where state = 'pending'`),
      'claims of external workers': await count(`executions where state = 'running' and claimed_by = 'anna'`),
      'groups that wait': await count('join_groups'),
      timers: await count('timers'),
      'rows of a batch that have finished': batch?.done ?? 0,
      'deliveries without an answer': await count(`deliveries where state = 'running'`),
      'deliveries behind it': await count(`deliveries where state = 'waiting'`),
    };
  }

  /** Does what the work waits for, and resolves when nothing is left to do. */
  async finish(service: Service): Promise<void> {
    this.receiver.on('/hook', answers(200));
    writeFileSync(this.gate, '');
    await publish(service, 'pair', 'Right', { payload: { n: 1 } });
    const { execution_id, lease_token } = this.claim!;
    await post(service, `/api/v1/executions/${execution_id}/complete`, { lease_token, output: { ok: true } });
    // Timers and batches queue executions, so they are read first: otherwise the last execution could be missed.
    const open = [
      'select id from timers',
      `select id from batches where ended_at is null`,
      `select id from executions where state in ('pending', 'running')`,
      `select id from deliveries where ended_at is null`,
    ];
    await eventually('everything has finished', async () => {
      for (const query of open) if ((await this.database.rows(query)).length > 0) return false;
      return true;
    });
  }

  /** Returns one line for each artifact, execution or delivery that was lost, doubled or left over. */
  async breaches(): Promise<string[]> {
    const { rows } = this.database;
    const artifacts = await rows<{ id: string; type: string }>(
      'select correlation_id as id, type from artifacts order by seq',
    );
    const byCorrelation = Map.groupBy(artifacts, ({ id }) => id);
    const types = new Map([...byCorrelation].map(([id, found]) => [id, found.map(({ type }) => type).join()]));
    const ofRows = [...types.keys()].filter((id) => FINISHED[id] === undefined);
    const wrong = [
      ...Object.entries(FINISHED)
        .filter(([id, expected]) => types.get(id) !== expected.join())
        .map(([id]) => id),
      ...ofRows.filter((id) => types.get(id) !== 'Row,Line'),
    ];
    const attempts = await rows<{ id: string; agent: string; attempt: number }>(
      'select id, agent, attempt from executions where attempt <> 1',
    );
    return [
      ...(await this.database.look(settledBreaches)),
      ...wrong.map((id) => `${id} has the artifacts ${types.get(id)}`),
      ...(ofRows.length === ROWS ? [] : [`the batch has ${ofRows.length} runs`]),
      ...attempts.map(({ id, agent, attempt }) => `execution ${id} of ${agent} ended in attempt ${attempt}`),
      ...(await this.deliveryBreaches()),
    ];
  }

  async close(): Promise<void> {
    await this.receiver.close();
    await this.database.drop();
  }

  private async deliveryBreaches(): Promise<string[]> {
    const stored = await this.database.rows<{ id: string; state: string }>(
      'select id, state from deliveries order by seq',
    );
    const arrived = this.receiver.at('/hook').toSorted((one, other) => one.sequence - other.sequence);
    const ids = [...new Set(arrived.map(({ id }) => id))];
    const isInOrder = ids.join() === stored.map(({ id }) => id).join();
    return [
      ...stored.filter(({ state }) => state !== 'delivered').map(({ id, state }) => `delivery ${id} is ${state}`),
      ...(isInOrder ? [] : [`the deliveries ${ids.join()} arrived`]),
    ];
  }

  private get gate(): string {
    return join(this.folder, 'gate');
  }
}

const publish = (service: Service, correlation: string, type: string, parts: object = {}): Promise<unknown> =>
  post(service, '/api/v1/artifacts', { type, payload: {}, ...parts }, { 'x-correlation-id': correlation });

async function post<T>(service: Service, path: string, body: object, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import type { Rows } from '../support/database.js';
import type { Random } from '../support/random.js';
import { type Answered, send, type Sent } from './requests.js';
import { faults } from './withstand.js';

const CLIENTS = 20;
const WITHIN_MS = 30_000;
const PAUSE_MS = 100;
const ITEMS = 5;

const READS = [
  '/api/v1/artifacts?type=Pong&limit=20&order=desc',
  '/api/v1/artifacts/summary',
  '/api/v1/agents',
  '/api/v1/changelog/events?limit=50',
  '/api/v1/runs',
  '/metrics',
];

/** The promises to honest clients: each of these must be stored, finished, and exist once. */
interface Acknowledged {
  /** Correlations with one artifact, from which one artifact follows. */
  correlations: Set<string>;
  runs: Set<string>;
  batches: Set<string>;
}

/**
 * Honest clients that work through one task after another: publish and poll, publish and wait, run, run batches, read.
 * They record what was acknowledged. A 503 or a missing answer acknowledges nothing; any other failure is a complaint.
 */
export class SoakClients {
  readonly acknowledged: Acknowledged = { correlations: new Set(), runs: new Set(), batches: new Set() };
  readonly complaints: string[] = [];
  refused = 0;
  private count = 0;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly stopping = new AbortController();
  private readonly working: Promise<unknown>;

  constructor(
    private readonly url: string,
    private readonly random: Random,
  ) {
    this.working = Promise.all(Array.from({ length: CLIENTS }, () => this.client()));
  }

  /** Resolves when every client has finished its task. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.working;
    this.agent.destroy();
  }

  private async client(): Promise<void> {
    const things = [
      () => this.publish(),
      () => this.publishAndWait(),
      () => this.run(),
      () => this.runInBackground(),
      () => this.batch(),
      () => this.read(),
    ];
    while (!this.stopping.signal.aborted) {
      await things[this.random.between(0, things.length - 1)]!();
      await delay(PAUSE_MS);
    }
  }

  private async publish(): Promise<void> {
    const id = this.nextId();
    if (!(await this.ask({ path: '/api/v1/artifacts', headers: { 'x-correlation-id': id }, body: this.ping() })))
      return;
    this.acknowledged.correlations.add(id);
    await this.poll<{ state: string }>(`/api/v1/correlations/${id}/status`, ({ state }) => state === 'completed');
  }

  private async publishAndWait(): Promise<void> {
    const id = this.nextId();
    const answer = await this.ask<{ completed: boolean; artifacts: { type: string }[] }>({
      path: '/api/v1/artifacts/sync',
      headers: { 'x-correlation-id': id, 'x-idempotency-key': id },
      body: this.ping(),
    });
    if (!answer) return;
    this.acknowledged.correlations.add(id);
    const types = answer.artifacts.map(({ type }) => type);
    if (answer.completed && types.join() !== 'Pong')
      this.complaints.push(`${id} was answered with ${types.join() || 'nothing'}`);
  }

  private async run(): Promise<void> {
    const answer = await this.ask<{ run_id: string; status: string }>({
      path: '/run/flock',
      body: { agent_name: 'ponger', inputs: { n: this.count } },
    });
    if (!answer) return;
    this.acknowledged.runs.add(answer.run_id);
    if (answer.status !== 'completed') this.complaints.push(`run ${answer.run_id} is ${answer.status}`);
  }

  private async runInBackground(): Promise<void> {
    const answer = await this.ask<{ run_id: string }>({
      path: '/run/flock',
      body: { agent_name: 'ponger', inputs: { n: this.count }, async_run: true },
    });
    if (!answer) return;
    this.acknowledged.runs.add(answer.run_id);
    await this.poll<{ status: string }>(`/run/${answer.run_id}`, ({ status }) => status === 'completed');
  }

  private async batch(): Promise<void> {
    const inputs = Array.from({ length: ITEMS }, (_, n) => ({ n }));
    const answer = await this.ask<{ batch_id: string }>({
      path: '/run/batch',
      body: { agent_name: 'ponger', batch_inputs: inputs },
    });
    if (!answer) return;
    this.acknowledged.batches.add(answer.batch_id);
    await this.poll<{ status: string }>(
      `/batch/${answer.batch_id}?results_limit=0`,
      ({ status }) => status === 'completed',
    );
  }

  private async read(): Promise<void> {
    await this.ask({ path: READS[this.random.between(0, READS.length - 1)]! });
  }

  /** Waits until the condition is met or the clients must stop; the audit checks later what is not finished then. */
  private async poll<Body>(path: string, isEnded: (body: Body) => boolean): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const body = await this.ask<Body>({ path });
      if (body && isEnded(body)) return;
      await delay(PAUSE_MS);
    }
  }

  /** Returns the body of a 200; null if the service answered 503 or not at all. */
  private async ask<Body>(request: Sent): Promise<Body | null> {
    const answer = await send(this.url, { ...request, agent: this.agent, timeoutMs: WITHIN_MS });
    const isWhole = answer.error === undefined;
    if (answer.status === 200 && isWhole) return bodyOf<Body>(answer);
    if (isWhole && answer.status !== 503) this.complaints.push(`${request.path}: ${answer.status} ${answer.text}`);
    else this.complaints.push(...faults([answer]));
    this.refused += 1;
    return null;
  }

  private nextId(): string {
    this.count += 1;
    return `soak-${this.count}`;
  }

  private ping(): object {
    return { type: 'Ping', payload: { n: this.count } };
  }
}

/** Skips answers that are longer than the part that is kept. */
function bodyOf<Body>({ text, headers }: Answered): Body {
  return (
    headers['content-type']?.startsWith('application/json') && text.endsWith('}') ? JSON.parse(text) : {}
  ) as Body;
}

/** Returns one line for each promise that the database breaks. */
export async function broken(rows: Rows, { correlations, runs, batches }: Acknowledged): Promise<string[]> {
  const found = await rows<{ id: string; state: string; artifact_count: number; error_count: number }>(
    `select id, state, artifact_count, error_count from correlations where id like 'soak-%'`,
  );
  const states = new Map(
    found.map(({ id, state, artifact_count, error_count }) => [
      id,
      `${state} with ${artifact_count} artifacts, ${error_count} errors`,
    ]),
  );
  const ended = new Set(
    (await rows<{ id: string }>(`select id from runs where status = 'completed'`)).map(({ id }) => id),
  );
  const whole = await rows<{ id: string }>(
    `select id from batches where status = 'completed' and succeeded_items = ${ITEMS} and total_items = ${ITEMS}`,
  );
  const finished = new Set(whole.map(({ id }) => id));
  return [
    ...[...correlations]
      .filter((id) => states.get(id) !== 'completed with 2 artifacts, 0 errors')
      .map((id) => `${id} is ${states.get(id) ?? 'lost'}`),
    ...[...runs].filter((id) => !ended.has(id)).map((id) => `run ${id} is not completed`),
    ...[...batches].filter((id) => !finished.has(id)).map((id) => `batch ${id} is not completed`),
  ];
}

import { type Answer, FlowRound, type Method, type Processes, type RequestParts } from '../flow/flow-round.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Programs } from './programs.js';

/** Each with its own seed, which is that of the first one and its number. */
const ROUNDS = Number(process.env.STARLING_LIMIT_CRASH_ROUNDS ?? 2);
const FIRST = printedSeed();

/** Processes that are killed. */
class KilledPrograms extends Programs implements Processes {
  readonly areSeveral = Programs.SIZE > 1;

  constructor(private readonly random: Random) {
    super();
  }

  async start(config: string, files: Record<string, string>): Promise<void> {
    await this.prepare(config, files, '1s');
    for (let place = 0; place < Programs.SIZE; place += 1) await this.begin(place);
  }

  async send(method: Method, path: string, { body, headers }: RequestParts): Promise<Answer> {
    const response = await fetch(`${this.url(this.random.between(0, Programs.SIZE - 1))}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  async suffer(): Promise<void> {
    const place = this.random.between(0, Programs.SIZE - 1);
    await this.kill(place);
    await this.begin(place);
  }

  async replace(config: string): Promise<void> {
    this.change(config);
    for (let place = 0; place < Programs.SIZE; place += 1) {
      await this.kill(place);
      await this.begin(place);
    }
  }
}

/** Runs the built program, killed with SIGKILL while its limits change: one process on SQLite, three on Postgres. */
it(`limits and rules of flow keep their promises, and nothing is idle, lost or stuck, over kills (${ROUNDS} rounds)`, async () => {
  for (let seed = FIRST; seed < FIRST + ROUNDS; seed += 1) {
    const random = new Random(seed);
    const round = new FlowRound(random, new KilledPrograms(random));
    const breaches = await round.play();
    if (breaches.length > 0) throw new Error(`seed ${seed}: ${breaches.join('\n')}\n${round.config}`);
  }
}, 86_400_000);

const LEASE_MS = 10_000;
/** Processes look for lost leases every third of a lease. */
const SOON_MS = LEASE_MS / 3 + 3_000;

const HANGING = `
limits: { desk: { concurrency: 1 } }
agents:
  clerk: { consumes: [{ types: [Form] }], limits: [desk], engine: { kind: function, module: ./clerk.js }, timeout: 1h }
`;

/**
 * Runs the built program on real time. On Postgres, another process runs meanwhile, and waits for the lease. On SQLite, the
 * one that starts afterwards is the only one, so it need not wait.
 */
it('the share of a process that was killed is free when its lease ends, or when the only process starts again', async () => {
  let hangs = '1';
  const programs = new Programs(() => ({ HANGS: hangs }));
  const clerk = `export default () => (process.env.HANGS ? new Promise(() => undefined) : null);`;
  await programs.prepare(HANGING, { 'clerk.js': clerk }, `${LEASE_MS}ms`);
  try {
    await programs.begin(0);
    hangs = '';
    await publish(programs.url(0), 'first');
    await eventually('the first one runs', async () => (await stateOf(programs.url(0), 'first')) === 'running');
    const isAlone = Programs.SIZE === 1;
    const other = isAlone ? 0 : 1;
    if (!isAlone) await programs.begin(other);
    await publish(programs.url(other), 'next');

    await programs.kill(0);
    const killed = Date.now();
    const sql = `select lease_until from executions where state = 'running'`;
    const held = await programs.database.rows<{ lease_until: number | string }>(sql);
    expect(held).toHaveLength(1);
    if (isAlone) await programs.begin(other);
    const free = isAlone ? killed : Number(held[0]!.lease_until);
    const canStart = Math.max(free, Date.now());
    for (const name of ['first', 'next'])
      await eventually(`${name} has ended`, async () => {
        return (await stateOf(programs.url(other), name)) === 'completed';
      });
    const starts = 'select correlation_id, attempt_started_at from executions order by attempt_started_at';
    const rows = await programs.database.rows<{ correlation_id: string; attempt_started_at: number | string }>(starts);
    expect(rows.map(({ correlation_id }) => correlation_id)).toEqual(['first', 'next']);
    for (const { attempt_started_at } of rows) {
      expect(Number(attempt_started_at)).toBeGreaterThanOrEqual(free);
      expect(Number(attempt_started_at)).toBeLessThan(canStart + SOON_MS);
    }
  } finally {
    await programs.remove();
  }
}, 600_000);

async function publish(url: string, correlation: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'X-Correlation-ID': correlation };
  const body = JSON.stringify({ type: 'Form', payload: {} });
  expect((await fetch(`${url}/api/v1/artifacts`, { method: 'POST', headers, body })).status).toBe(200);
}

async function stateOf(url: string, correlation: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/executions?correlation_id=${correlation}`);
  return ((await response.json()) as { items: { state: string }[] }).items[0]!.state;
}

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const OPEN_MS = 1_000;
/** By how much the clocks of the processes may differ. */
const TOLERANCE_MS = 100;
const EXECUTIONS = 40;
const CONFIG = `agents:
  sender: { consumes: [{ types: [Mail] }], breaker: { failures: 100%, of: 3, open: ${OPEN_MS}ms, key: payload.host }, retry: { attempts: 1 }, engine: { kind: function, module: ./send.js } }
`;
const AGENT = `globalThis.downHosts ??= new Set();
export default async ([{ payload }]) => { if (globalThis.downHosts.has(payload.host)) throw new Error('down'); return null; };`;

const down = globalThis as unknown as { downHosts: Set<string> };

/** Uses three apps over HTTP on one Postgres, whose agents run in all of them. */
describe('the breaker of three processes', () => {
  const replicas = new Replicas();
  const boards: Board[] = [];

  beforeAll(async () => {
    down.downHosts = new Set(['a']);
    for (let n = 0; n < 3; n += 1)
      boards.push(await replicas.start(CONFIG, { role: WORKER, files: { 'send.js': AGENT } }));
  });
  afterAll(() => replicas.close());

  const attempts = async (correlations: readonly string[]): Promise<{ start: number; end: number }[]> => {
    const found = await Promise.all(
      correlations.map(async (id) => {
        const { body } = await boards[0]!.http.get(`/api/v1/correlations/${id}/trace`).expect(200);
        const [execution] = (body as { executions: { started_at: string | null; ended_at: string | null }[] })
          .executions;
        const { started_at: start, ended_at: end } = execution!;
        return start === null || end === null ? [] : [{ start: Date.parse(start), end: Date.parse(end) }];
      }),
    );
    return found.flat().sort((one, other) => one.start - other.start);
  };

  it('lets one attempt at a time start while it is not closed, whichever process claims it', async () => {
    for (let n = 0; n < 3; n += 1)
      expect(await boards[n]!.ended(await boards[n]!.publish('Mail', { host: 'a' }))).toMatchObject({
        state: 'failed',
      });
    const sent = await Promise.all(
      Array.from({ length: EXECUTIONS }, (_, n) => boards[n % 3]!.publish('Mail', { host: 'a' })),
    );
    const other = await boards[0]!.publish('Mail', { host: 'b' });
    expect(await boards[0]!.ended(other)).toMatchObject({ state: 'completed' });
    await eventually('some have tried', async () => (await attempts(sent)).length >= 3);
    const tried = await attempts(sent);
    for (const [index, { end }] of tried.slice(0, -1).entries())
      expect(tried[index + 1]!.start - end).toBeGreaterThanOrEqual(OPEN_MS - TOLERANCE_MS);
    down.downHosts.delete('a');
    const states: string[] = [];
    for (const id of sent) states.push((await boards[0]!.ended(id)).state);
    // One may have tried between the two last looks.
    expect(states.filter((state) => state === 'failed').length).toBeGreaterThanOrEqual(tried.length);
    expect(states.filter((state) => state !== 'failed' && state !== 'completed')).toEqual([]);
    expect(states.filter((state) => state === 'completed').length).toBeGreaterThan(0);
    expect(await boards[0]!.app.database.rows('select * from breakers')).toEqual([]);
  });
});

describe('the breaker of an external agent that no worker process has', () => {
  const BREAKER = `breaker: { failures: 100%, of: 2, open: ${OPEN_MS}ms },`;
  const OTHER_CONFIG = 'agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n';
  const configured = (rule: string): string =>
    `agents: { person: { consumes: [{ types: [Task] }], ${rule} retry: { attempts: 1 }, engine: { kind: external } } }\n`;
  const clock = new ManualClock();
  let replicas: Replicas;
  let server: Board;
  let outside: Outside;

  beforeEach(async () => {
    replicas = new Replicas();
    await replicas.start(OTHER_CONFIG, { role: WORKER, clock });
    await serve(BREAKER);
    for (let n = 0; n < 2; n += 1) await server.publish('Task', { n });
    for (const held of await claim()) await outside.send(held, 'fail', { error_message: 'down', final: true });
    for (let n = 0; n < 4; n += 1) await server.publish('Task', { n });
    expect(await claim()).toEqual([]);
  });
  afterEach(() => replicas.close());

  const serve = async (rule: string): Promise<void> => {
    server = await replicas.start(configured(rule), { role: SERVER, clock });
    outside = new Outside(server.http);
  };

  const claim = (): Promise<Held[]> => outside.claim({ agents: ['person'], max: 10 });

  const claims = async (count: number): Promise<Held[]> => {
    const found: Held[] = [];
    await eventually(`${count} can be claimed`, async () => {
      found.push(...(await claim()));
      return found.length >= count;
    });
    expect(found).toHaveLength(count);
    return found;
  };

  it('lets one attempt decide, and then all start', async () => {
    clock.advance(OPEN_MS);
    const [failing] = await claims(1);
    expect(await claim()).toEqual([]);
    await outside.send(failing!, 'fail', { error_message: 'down', final: true });
    clock.advance(OPEN_MS);
    const [working] = await claims(1);
    await outside.send(working!, 'complete', { outputs: [] });
    await claims(2);
  });

  it('lets all start after an attempt if the configuration no longer has it', async () => {
    await serve('');
    clock.advance(OPEN_MS);
    const found: Held[] = [];
    await eventually('all can be claimed', async () => {
      const some = await claim();
      for (const held of some) await outside.send(held, 'complete', { outputs: [] });
      found.push(...some);
      return found.length >= 4;
    });
    expect(found).toHaveLength(4);
    expect(await server.app.database.rows('select * from breakers')).toEqual([]);
  });
});

describe('a breaker that changes at each attempt, with outputs that gather over correlations', () => {
  const CORRELATIONS = 20;
  // One of three fails, one gathers, and one has no output. Too few fail for the breaker to open.
  const config = (gathers: string): string => `agents:
  sender: { consumes: [{ types: [Mail] }], publishes: [{ type: Part }], breaker: { failures: 100%, of: 1000, open: 1h }, retry: { attempts: 1 }, concurrency: 10, engine: { kind: function, module: ./gather.js } }
  packer: { consumes: [{ ${gathers} }], publishes: [{ type: Box }], engine: { kind: expression, expression: '{"ok": true}' } }
`;
  const GATHER = `export default async ([{ payload: { n, key } }]) => {
  if (n % 3 === 0) throw new Error('down');
  return n % 3 === 1 ? [{ type: 'Part', payload: { key } }] : null;
};`;

  it.each([
    ['batch windows', 'types: [Part], batch: { size: 3, timeout: 1h }'],
    ['batch windows with a key', 'types: [Part], batch: { size: 4, timeout: 1h, key: payload.key }'],
  ])('lets no two ends of executions wait for each other: %s', async (_, gathers) => {
    const replicas = new Replicas();
    const boards: Board[] = [];
    for (let n = 0; n < 3; n += 1)
      boards.push(await replicas.start(config(gathers), { role: WORKER, files: { 'gather.js': GATHER } }));
    const { database } = boards[0]!.app;
    await Promise.all(
      Array.from({ length: CORRELATIONS * 6 }, (_, n) =>
        boards[n % 3]!.publish('Mail', { n, key: n % 5 }, { correlation: `c${n % CORRELATIONS}` }),
      ),
    );
    const open = `select id from executions where ended_at is null`;
    await eventually('all have ended', async () => (await database.rows(open)).length === 0);
    const ended = await database.rows<{ state: string }>(`select state from executions where agent = 'sender'`);
    expect(ended.filter(({ state }) => state === 'failed')).toHaveLength(CORRELATIONS * 2);
    await replicas.stop();
    // A session reports what it has counted before it ends.
    const others = `select pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
    await eventually('the sessions have ended', async () => (await database.rows(others)).length === 0);
    const deadlocks = 'select deadlocks::int from pg_stat_database where datname = current_database()';
    expect(await database.rows(deadlocks)).toEqual([{ deadlocks: 0 }]);
    await replicas.close();
  });
});

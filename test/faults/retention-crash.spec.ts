import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, jsonField, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';
import { retentionBreaches } from './retention/retention-invariants.js';
import { makeOlder } from './retention/time-machine.js';

const CONFIG = `
server: { retain_executions: 1d, retain_runs: 3650d }
types: { ${['Seed', 'Grain', 'Flour', 'Note', 'Echo', 'Half', 'OtherHalf', 'Whole', 'Parcel', 'Opened', 'Order', 'Copy'].map((type) => `${type}: { retain: 1d }`).join(', ')} }
agents:
  thresher: { consumes: [{ types: [Seed] }], publishes: [{ type: Grain, tags: [whole] }], engine: { kind: expression, expression: payload.grains } }
  miller: { consumes: [{ types: [Grain] }], publishes: [{ type: Flour }], engine: { kind: expression, expression: '{}' } }
  echo: { consumes: [{ types: [Note] }], publishes: [{ type: Echo }], engine: { kind: function, module: ./echo.js } }
  joiner: { consumes: [{ types: [Half, OtherHalf], join: { by: payload.key, within: 30d } }], publishes: [{ type: Whole }], engine: { kind: expression, expression: '{}' } }
  opener: { consumes: [{ types: [Parcel] }], publishes: [{ type: Opened }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  copier: { consumes: [{ types: [Order], where: 'false' }], publishes: [{ type: Copy }], engine: { kind: expression, expression: '{"n": payload.n}' } }
`;

/** The service checks every ten seconds whether a cleanup is due; here, ten times a second. */
const HURRIED = `data:text/javascript,${encodeURIComponent('const set = setInterval; globalThis.setInterval = (work, ms, ...rest) => set(work, ms === 10000 ? 100 : ms, ...rest);')}`;

const ROUNDS = Number(process.env.STARLING_RETENTION_CRASH_ROUNDS ?? 2);
const SEEDS = 12 * (ROUNDS + 1);
const GRAINS = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/**
 * Runs the built program as a process, its database, HTTP and SIGKILL. The test changes the age of the stored rows, and
 * how often the service checks for a cleanup.
 */
describe(`killed ${ROUNDS} times while it deletes expired data`, () => {
  const folder = new ConfigurationFolder();
  const acknowledged = new Set<number>();
  let database: TestDatabase;
  let service: Service;
  let sent = 0;

  beforeAll(async () => {
    await builtProgram();
    folder.write('starling.yaml', CONFIG);
    folder.write('echo.js', QUEUED['echo.js']);
    database = await databaseOf(folder.path);
  });

  afterAll(async () => {
    await service?.kill();
    await database.drop();
    folder.remove();
  });

  async function start(): Promise<void> {
    const args = [
      '--config',
      `${folder.path}/starling.yaml`,
      '--database-url',
      database.url,
      '--lease',
      '2s',
      '--log-level',
      'warn',
    ];
    service = await Service.start(args, { NODE_OPTIONS: `--import=${HURRIED}` });
  }

  async function post<T>(path: string, body: object, correlation?: string): Promise<T> {
    const headers = { 'content-type': 'application/json', ...(correlation && { 'x-correlation-id': correlation }) };
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (response.status !== 200) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  const publish = (correlation: string, type: string, payload: object): Promise<unknown> =>
    post('/api/v1/artifacts', { type, payload }, correlation);
  const count = async (from: string): Promise<number> =>
    Number((await database.rows<{ count: number | string }>(`select count(*) as count from ${from}`))[0]!.count);
  const due = async (): Promise<number> =>
    (await count(`artifacts where correlation_id like 'old-%'`)) +
    (await count(`executions where correlation_id like 'old-%'`));
  /** Compares everything except the times, which the test changes. */
  const resultOf = async (run: string): Promise<unknown> => {
    const { status, result } = await service.get<{ status: string; result: unknown }>(`/run/${run}`);
    return { status, result };
  };
  const idsOf = async (correlations: readonly string[]): Promise<string[]> =>
    (
      await database.rows<{ id: string }>(
        `select id from artifacts where correlation_id in (${correlations.map((id) => `'${id}'`).join()}) order by seq`,
      )
    ).map(({ id }) => id);

  /**
   * Creates rows that are to be deleted, and equally old ones that stay: a run, half of a join with a time limit, and
   * the input of a paused agent.
   */
  async function fill(): Promise<{ run: string; kept: string[] }> {
    await post('/api/v1/agents/opener/pause', {});
    for (let seed = 0; seed < SEEDS; seed += 1)
      await publish(`old-${seed}`, 'Seed', { grains: Array.from({ length: GRAINS }, () => ({})) });
    const { run_id: run } = await post<{ run_id: string }>('/run/flock', { agent_name: 'copier', inputs: { n: 1 } });
    await publish('half', 'Half', { key: 'a' });
    await publish('parcel', 'Parcel', { n: 1 });
    await settled();
    return { run, kept: [run, 'half', 'parcel'] };
  }

  /**
   * Waits until all correlations but those of the parcel and of the half have settled, and everything is rolled up,
   * because other rows are never deleted.
   */
  const settled = (): Promise<void> =>
    eventually('all correlations have settled, and are counted', async () => {
      if ((await count(`correlations where state = 'active' and id not in ('parcel', 'half')`)) > 0) return false;
      const reach = (name: string, table: string) =>
        `(name = '${name}' and up_to_seq >= (select max(seq) from ${table}))`;
      const all = [
        reach('artifacts', 'artifacts'),
        reach('artifact_terms', 'artifacts'),
        reach('execution_terms', 'executions'),
      ];
      return (await count(`rollups where ${all.join(' or ')}`)) === all.length;
    });

  /** Publishes into a few correlations, some of them old, until the process is gone. */
  async function publishUntilKilled(): Promise<void> {
    while (!service.hasEnded) {
      const n = (sent += 1);
      if (
        await publish(`busy-${n % 3}`, 'Note', { n }).then(
          () => true,
          () => false,
        )
      )
        acknowledged.add(n);
    }
  }

  it(
    'keeps what is needed, keeps every reference and count consistent, and deletes everything expired in the end',
    async () => {
      const random = new Random(printedSeed());
      await start();
      const { run, kept } = await fill();
      const [ids, result] = [await idsOf(kept), await resultOf(run)];
      expect(await service.kill('SIGTERM')).toBe(0);
      await makeOlder(database.url, 2 * DAY_MS);

      const left: number[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        const there = await due();
        // Some of the remaining rows are for later rounds.
        // A busy machine may have deleted everything before the last rounds.
        const enough = there === 0 ? 0 : there - random.between(1, Math.ceil(there / (ROUNDS - round + 2)));
        await start();
        const killed = eventually('some of it has been deleted', async () => (await due()) <= enough).finally(() =>
          service.kill('SIGKILL'),
        );
        await Promise.all([killed, publishUntilKilled()]);
        left.push(await due());
        expect(await database.look(retentionBreaches)).toEqual([]);
        expect(await idsOf(kept)).toEqual(ids);
        // The next process that checks when the cleanup is due takes it over.
        await makeOlder(database.url, 11 * MINUTE_MS);
      }

      await start();
      await eventually('what was due is gone', async () => (await due()) === 0);
      await settled();
      await eventually(
        'their correlations are gone',
        async () => (await count(`correlations where id like 'old-%'`)) === 0,
      );
      const notes = await database.rows<{ n: string }>(
        `select ${jsonField('payload', 'n')} as n from artifacts where type = 'Note'`,
      );
      const stored = new Set(notes.map(({ n }) => Number(n)));
      expect([...acknowledged].filter((n) => !stored.has(n))).toEqual([]);
      const ever = SEEDS * (1 + 2 * GRAINS) + ids.length + 2 * stored.size;
      expect(await fetch(`${service.url}/metrics`).then((response) => response.text())).toContain(
        `\nblackboard_artifacts_total ${ever}\n`,
      );
      expect(await idsOf(kept)).toEqual(ids);
      expect(await database.look(retentionBreaches)).toEqual([]);

      // The kept rows still serve their purpose.
      await publish('other-half', 'OtherHalf', { key: 'a' });
      await post('/api/v1/agents/opener/resume', {});
      await eventually(
        'the join and the execution have finished',
        async () => (await count(`artifacts where type in ('Whole', 'Opened')`)) === 2,
      );
      expect(await resultOf(run)).toEqual(result);
      expect(await service.kill('SIGTERM')).toBe(0);
      console.log(
        `${ROUNDS} kills with ${left.join(', ')} rows left to delete, ${acknowledged.size} notes acknowledged meanwhile`,
      );
    },
    300_000 + ROUNDS * 10_000,
  );
});

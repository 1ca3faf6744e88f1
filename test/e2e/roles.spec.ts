// Uses the whole app over HTTP in each role, one after another on one database. The clock is faked.
import { Heartbeat } from '../../src/blackboard/heartbeat.js';
import { Rollups } from '../../src/blackboard/queries/rollups.js';
import type { Role } from '../../src/common/role.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { BatchDispatcher } from '../../src/features/batches/batch-dispatcher.js';
import { UnfinishedImports } from '../../src/features/batches/import/unfinished-imports.js';
import { ExpiredKeys } from '../../src/features/idempotency/expired-keys.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ended, send, show } from './batch-board.js';
import { Board } from './board.js';

const SERVER: Role = { api: true, worker: false };
const WORKER: Role = { api: false, worker: true };

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  late: { consumes: [{ types: [Secret] }], publishes: [{ type: Revealed }], engine: { kind: expression, expression: '{"n": payload.n}' } }
`;

const LEASE_MS = 30_000;
const DAY_MS = 24 * 3_600_000;

describe('a process', () => {
  let clock: ManualClock;
  let folder: ConfigurationFolder;
  let board: Board;

  const start = async (role?: Role): Promise<void> => {
    board = await Board.start(CONFIG, { role, clock, folder: folder.path, settings: { leaseMs: LEASE_MS } });
  };

  const restart = async (role?: Role): Promise<void> => {
    await board.close();
    await start(role);
  };

  beforeEach(() => {
    clock = new ManualClock();
    folder = new ConfigurationFolder();
  });

  afterEach(async () => {
    await board.close();
    folder.remove();
  });

  const metric = async (name: string): Promise<number> => {
    const { text } = await board.http.get('/metrics').expect(200);
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  const of = <T>(kind: abstract new (...args: never[]) => T): T => board.app.app.get(kind, { strict: false });

  const run = async (): Promise<string> => {
    const { body } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'echo', inputs: { n: 1 }, async_run: true })
      .expect(200);
    return (body as { run_id: string }).run_id;
  };

  const runStatus = async (id: string): Promise<string> =>
    ((await board.http.get(`/run/${id}`).expect(200)).body as { status: string }).status;

  describe('without worker', () => {
    beforeEach(() => start(SERVER));

    it('accepts everything, executes nothing, and leaves all of it to a process that works', async () => {
      const order = await board.publish('Order', { n: 1 });
      const secret = await board.publish('Secret', { n: 2 }, { visibility: { kind: 'After', ttl: 'PT10M' } });
      const runId = await run();
      const batchId = await send(board, 'echo', [{ n: 1 }, { n: 2 }, { n: 3 }]);

      clock.advance(3_600_000);
      for (const id of [order, secret])
        expect(await board.status(id)).toMatchObject({ state: 'active', has_pending_work: true, artifact_count: 1 });
      expect(await runStatus(runId)).toBe('starting');
      expect(await show(board, batchId)).toMatchObject({ status: 'starting', total_items: 3, completed_items: 0 });
      expect(await metric('blackboard_executions_total')).toBe(0);
      // The order's and the run's: those of the timer and the batch do not exist yet. No process runs the agent.
      await eventually(
        'they are counted as executions without agent',
        async () =>
          (await metric('starling_queue_depth')) === 0 &&
          (await metric('starling_executions_without_agent{agent="echo"}')) === 2,
      );
      await board.http.get('/health/ready').expect(200);

      await restart(WORKER);
      await eventually(
        'the worker has done all of it',
        async () => (await metric('blackboard_executions_total')) === 6,
      );
      await restart();
      for (const id of [order, secret])
        expect(await board.ended(id)).toMatchObject({ state: 'completed', artifact_count: 2 });
      expect(await runStatus(runId)).toBe('completed');
      expect(await ended(board, batchId)).toMatchObject({ status: 'completed', completed_items: 3, failed_items: 0 });
    });

    it('writes nothing but its heartbeat, at its ticks and as time passes', async () => {
      await board.http
        .post('/api/v1/artifacts')
        .set('X-Idempotency-Key', 'old')
        .send({ type: 'Order', payload: { n: 1 } })
        .expect(200);
      await send(board, 'echo', [{ n: 1 }]);
      const transactions = async (): Promise<number> => {
        await of(UnitOfWork).idle();
        return metric('starling_database_transaction_seconds_count');
      };
      const heartbeat = async (): Promise<string> => {
        const { body } = await board.http.get('/api/v1/processes').expect(200);
        return (body as { processes: { last_heartbeat_at: string }[] }).processes[0]!.last_heartbeat_at;
      };
      const first = await heartbeat();
      clock.advance(2 * DAY_MS);
      await eventually('its heartbeat is stored', async () => (await heartbeat()) !== first);
      // The rest of the heartbeat follows.
      await of(Heartbeat).stop();
      const before = await transactions();
      expect(before).toBeGreaterThan(0);

      await Promise.all([
        of(Rollups).run(),
        of(ExpiredKeys).remove(),
        of(UnfinishedImports).remove(),
        of(BatchDispatcher).lookAtAll(),
      ]);
      expect(await transactions()).toBe(before);
    });

    it('leaves the work of a crashed process to others', async () => {
      await board.publish('Order', { n: 1 });
      const counts = {
        total_items: 0,
        succeeded_items: 0,
        failed_items: 0,
        running_runs: 0,
        next_position: 0,
        round: 0,
      };
      const importing = {
        id: 'half-in',
        agent: 'echo',
        status: 'importing',
        max_workers: 1,
        static_inputs: '{}',
        error: null,
        ...counts,
      } as const;
      // Written directly: the rows that a crash leaves, with expired leases.
      await of(UnitOfWork).run(async ({ db }) => {
        await db
          .updateTable('executions')
          .set({ state: 'running' as never, lease_token: 'lost', lease_owner: 'gone', lease_until: 0 })
          .execute();
        await db
          .insertInto('batches')
          .values({
            ...importing,
            import_owner: 'gone',
            import_until: 0,
            created_at: 0,
            started_at: null,
            ended_at: null,
          })
          .execute();
      });
      const left = async (): Promise<object> => {
        const { reader } = of(UnitOfWork);
        const executions = await reader.selectFrom('executions').select(['state', 'lease_owner']).execute();
        return { executions, batches: await reader.selectFrom('batches').select('id').execute() };
      };
      const all = await left();
      expect(all).toEqual({ executions: [{ state: 'running', lease_owner: 'gone' }], batches: [{ id: 'half-in' }] });

      await restart(SERVER);
      await of(UnfinishedImports).remove();
      expect(await left()).toEqual(all);

      await restart(WORKER);
      expect(await left()).toMatchObject({ batches: [] });
      await eventually('the execution was taken over', async () => (await metric('blackboard_executions_total')) === 1);
    });

    it('keeps the idempotency key of a request that it is still answering', async () => {
      const body = { type: 'Order', payload: { n: 1 }, timeout: 300 };
      let isAnswered = false;
      const answer = board.http
        .post('/api/v1/artifacts/sync')
        .set('X-Idempotency-Key', 'slow')
        .send(body)
        .then((response) => {
          isAnswered = true;
          return response.body as object;
        });
      await eventually('the artifact is stored', async () => (await metric('blackboard_artifacts_total')) === 1);
      const leaseUntil = async (): Promise<number> => {
        const { reader } = of(UnitOfWork);
        return (
          await reader
            .selectFrom('idempotency_keys')
            .select('lease_until')
            .where('key', '=', 'slow')
            .executeTakeFirstOrThrow()
        ).lease_until;
      };
      clock.advance(2 * LEASE_MS);
      await eventually('its lease has been renewed', async () => (await leaseUntil()) > clock.now());
      await eventually('the timeout has passed', () => {
        clock.advance(10_000);
        return isAnswered;
      });
      expect(await answer).toMatchObject({ completed: false, artifacts: [] });
    });
  });

  describe('that is a worker', () => {
    beforeEach(() => start(WORKER));

    it.each([
      ['get', '/'],
      ['get', '/docs'],
      ['get', '/api/v1/artifacts'],
      ['get', '/nothing'],
      ['post', '/run/flock'],
      ['post', '/health/nothing'],
    ] as const)('refuses %s %s and names the server to ask', async (method, path) => {
      const { status, body } = await board.http[method](path);
      expect([status, body]).toEqual([
        404,
        {
          detail:
            'This process is a worker and does not serve the API; send the request to a process that runs starling serve',
        },
      ]);
    });

    it('refuses a body without reading it', async () => {
      const refused = await board.http
        .post('/api/v1/artifacts')
        .set('Content-Type', 'application/json')
        .send('{"type": ');
      expect([refused.status, refused.body]).toEqual([
        404,
        { detail: expect.stringMatching(/^This process is a worker/) },
      ]);
    });

    it('answers health and metrics', async () => {
      for (const path of ['/health', '/health/ready', '/health/live', '/metrics'])
        await board.http.get(path).expect(200);
      await board.http.head('/health/ready').expect(200);
      expect(await metric('blackboard_agents_count')).toBe(2);
    });
  });
});

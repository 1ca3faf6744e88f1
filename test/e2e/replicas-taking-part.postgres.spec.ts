import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { type Board, tally } from './board.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  fragile: { consumes: [{ types: [Order] }], publishes: [{ type: Made }], engine: { kind: function, module: ./fragile.js }, retry: { attempts: 1 } }
  held: { consumes: [{ types: [Held] }], publishes: [{ type: Never }], engine: { kind: expression, expression: '{}' } }
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
`;

// Fails only in its first round.
const FRAGILE = `const seen = (globalThis.fragileSeen ??= new Set());
export default async ([{ payload }]) => {
  if (seen.has(payload.n)) return { n: payload.n };
  seen.add(payload.n);
  throw new Error('broken');
};`;

/**
 * Uses three apps over HTTP on one Postgres, one of which runs no executions; only wake-ups connect them. The clock is
 * faked.
 */
describe('on several processes', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();
  const random = new Random(printedSeed());
  const boards: Board[] = [];

  beforeAll(async () => {
    for (const role of [SERVER, WORKER, WORKER]) {
      boards.push(
        withoutPolling(
          await replicas.start(CONFIG, {
            files: { 'fragile.js': FRAGILE, 'gate.js': GATE },
            role,
            clock,
            settings: { leaseMs: 3_600_000 },
          }),
        ),
      );
    }
  });

  afterAll(() => replicas.close());

  const anyOf = (): Board => boards[random.between(0, 2)]!;

  /** Returns an execution that has failed, in a correlation that is still active or has settled. */
  async function failedIn(correlation: string, n: number, isActive: boolean): Promise<string> {
    if (isActive) await anyOf().publish('Held', {}, { correlation, visibility: { kind: 'After', ttl: 'PT1H' } });
    await anyOf().publish('Order', { n }, { correlation });
    await eventually('it has failed', async () => (await anyOf().status(correlation)).error_count === 1);
    const { body } = await anyOf()
      .http.get('/api/v1/executions')
      .query({ correlation_id: correlation, state: 'failed' })
      .expect(200);
    return (body as { items: { id: string }[] }).items[0]!.id;
  }

  it('a retry that races with cancelling either comes first and is cancelled, or is refused', async () => {
    for (let n = 0; n < 16; n += 1) {
      const [correlation, isActive] = [`race-${n}`, n % 2 === 0];
      const id = await failedIn(correlation, n, isActive);
      const [retried, cancelled] = await Promise.all([
        anyOf().http.post(`/api/v1/executions/${id}/retry`),
        anyOf().http.post(`/api/v1/correlations/${correlation}/cancel`),
      ]);
      expect([200, 409]).toContain(retried.status);
      expect([200, 409]).toContain(cancelled.status);
      const { state } = await anyOf().ended(correlation);
      // Cancelled for good if that was the answer; otherwise the retry has run to its end.
      expect(state).toBe(cancelled.status === 200 ? 'cancelled' : retried.status === 200 ? 'completed' : 'failed');
      const [execution] = await boards[0]!.app.database.rows<{ state: string; round: number }>(
        `select state, round from executions where id = '${id}'`,
      );
      expect(['failed', 'completed', 'cancelled']).toContain(execution!.state);
      expect(execution!.round).toBe(retried.status === 200 ? 1 : 0);
      const [{ pending }] = (await boards[0]!.app.database.rows<{ pending: number }>(
        `select pending from correlations where id = '${correlation}'`,
      )) as [{ pending: number }];
      expect(pending).toBe(0);
    }
  });

  it('concurrent retries on all of them start it again once', async () => {
    const id = await failedIn('together', 1_000, false);
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, n) => boards[n % 3]!.http.post(`/api/v1/executions/${id}/retry`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(8).fill(409)]);
    expect(await anyOf().ended('together')).toMatchObject({ state: 'completed', artifact_count: 3 });
    expect(tally(await anyOf().types('together'))).toEqual({ Order: 1, WorkflowError: 1, Made: 1 });
  });

  it('a deadline set on a process without worker is enforced by the others, and answers waiting requests there', async () => {
    const [server] = boards as [Board];
    const waiting = server.http
      .post('/run/flock')
      .set('X-Correlation-ID', 'overdue')
      .send({ agent_name: 'gate', inputs: { n: 1, batch: 'overdue' }, deadline: 'PT5M' })
      .then();
    await started('overdue', 1);
    clock.advance(5 * 60_000);
    expect((await waiting).body).toMatchObject({
      status: 'cancelled',
      error: expect.stringContaining('the deadline passed at ') as string,
    });
    await eventually('the agent has been aborted', () => gatesOf('overdue')[0]!.isAborted);
    expect(await server.app.database.rows(`select id from timers where kind = 'deadline'`)).toEqual([]);
  });
});

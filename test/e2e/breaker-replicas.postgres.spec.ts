import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

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

import { isDeepStrictEqual } from 'node:util';

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Replicas, WORKER } from './replica-boards.js';

const BURST = 60;

const config = (rate: string): string => `limits: { calls: { ${rate} } }
agents:
  caller: { consumes: [{ types: [Call] }], limits: [calls], publishes: [{ type: Called }], engine: { kind: expression, expression: '{}' } }
`;

/** Uses two apps over HTTP on one Postgres, as while a slower rate with a longer burst is rolled out. */
describe('a rate that two processes have with different bursts', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();

  afterAll(() => replicas.close());

  it('stays used up for the process with the longer burst, after the other one has looked at what waits', async () => {
    const slow = await replicas.start(config(`rate: 60/h, burst: ${BURST}`), { role: WORKER, clock });
    for (let n = 0; n < BURST; n += 1) await slow.publish('Call', { n }, { correlation: `c${n}` });
    for (let n = 0; n < BURST; n += 1) expect(await slow.ended(`c${n}`)).toMatchObject({ state: 'completed' });
    await slow.publish('Call', {}, { correlation: 'waits' });
    const used = (): Promise<unknown[]> => slow.app.database.rows('select used_until from limit_rates');
    const before = await used();
    const fast = await replicas.start(config('rate: 600/m'), { role: WORKER, clock });
    // The second look of the fast process begins after its first one has ended.
    for (let looks = 0; looks < 2; looks += 1) {
      clock.advance(1_000);
      await eventually('the fast process says what the execution waits for', async () => {
        const { body } = await fast.http.get('/api/v1/correlations/waits/waiting').expect(200);
        return (body as { items: { limit: string | null }[] }).items[0]?.limit?.startsWith('limit calls') === true;
      });
    }
    expect(await used()).toEqual(before);

    // When the earlier configuration is gone, its starts last as long as the faster rate says.
    await slow.close();
    await eventually('the fast process has stored it', async () => !isDeepStrictEqual(await used(), before));
    clock.advance(100);
    expect(await fast.ended('waits')).toMatchObject({ state: 'completed' });
  });
});

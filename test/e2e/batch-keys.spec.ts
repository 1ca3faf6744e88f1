import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ended, send } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';

const NUMBERS = `engine: { kind: expression, expression: "{ 'ns': payload.map(one, one.n) }" }, publishes: [{ type: Pack }]`;
const HOUR = 3_600_000;

const CONFIG = `
limits:
  per_shop: { concurrency: 1, key: 'payload[0].shop' }
agents:
  packer: { consumes: [{ types: [Item, Gift], mode: any, batch: { size: 3, timeout: 1h, key: payload.shop } }], ${NUMBERS} }
  patient: { consumes: [{ types: [Part], batch: { size: 2, key: payload.shop } }], ${NUMBERS} }
  person: { consumes: [{ types: [Task], batch: { size: 2, key: payload.shop } }], limits: [per_shop], engine: { kind: external } }
`;

interface Verdict {
  agent: string;
  verdict: string;
  detail: string;
  join_key?: string;
}

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('batch windows by a key', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
  });

  afterAll(() => board.close());

  const packs = async (correlation: string): Promise<unknown[]> =>
    (await board.artifacts(correlation, { type: 'Pack' })).map(({ payload }) => payload.ns);

  const verdict = async (correlation: string): Promise<Verdict> => {
    const [artifact] = await board.artifacts(correlation);
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
    return (body as { verdicts: Verdict[] }).verdicts.find(({ verdict: found }) => found !== 'type')!;
  };

  it('close each by its own size, over all types and correlations', async () => {
    await board.publish('Part', { shop: 'a', n: 1 });
    await board.publish('Part', { shop: 1, n: 2 });
    // A text and a number are different keys.
    await board.publish('Part', { shop: '1', n: 3 });
    const first = await board.publish('Part', { shop: 'a', n: 4 });
    const second = await board.publish('Part', { shop: 1, n: 5 });
    for (const id of [first, second]) await board.ended(id);
    expect([await packs(first), await packs(second)]).toEqual([[[1, 4]], [[2, 5]]]);
    await board.publish('Item', { shop: 'b', n: 1 });
    await board.publish('Gift', { shop: 'b', n: 2 });
    const third = await board.publish('Item', { shop: 'b', n: 3 });
    await board.ended(third);
    expect(await packs(third)).toEqual([[1, 2, 3]]);
  });

  it('close each by its own time', async () => {
    const early = await board.publish('Item', { shop: 'c', n: 1 });
    clock.advance(HOUR / 2);
    const late = await board.publish('Item', { shop: 'd', n: 2 });
    clock.advance(HOUR / 2);
    await board.ended(early);
    expect(await packs(early)).toEqual([[1]]);
    expect(await board.status(late)).toMatchObject({ state: 'active' });
    clock.advance(HOUR / 2);
    await board.ended(late);
    expect(await packs(late)).toEqual([[2]]);
  });

  it('do not hold runs, direct runs and rows of batches, whose lists need no key', async () => {
    const windows = async (): Promise<unknown> =>
      (await board.http.get('/api/v1/waiting').query({ agent: 'patient' }).expect(200)).body;
    const before = await windows();
    const inputs = [{ n: 1 }, { shop: 'k', n: 2 }, { shop: 'l', n: 3 }].map((payload) => ({ type: 'Part', payload }));
    const direct = await board.http.post('/api/v1/agents/patient/run').send({ inputs }).expect(200);
    expect((direct.body as { artifacts: object[] }).artifacts).toMatchObject([{ payload: { ns: [1, 2, 3] } }]);
    const run = await board.http
      .post('/run/flock')
      .send({ agent_name: 'patient', inputs: { n: 4 } })
      .expect(200);
    expect(run.body).toMatchObject({ status: 'completed', result: { ns: [4] } });
    const { results } = await ended(board, await send(board, 'patient', [{ n: 5 }, { shop: 'm', n: 6 }]));
    expect(results.map(({ result }) => result)).toEqual([{ ns: [5] }, { ns: [6] }]);
    expect(await windows()).toEqual(before);
  });

  it('have an artifact once that is published again with its idempotency key', async () => {
    const publish = async (n: number): Promise<string> => {
      const { body } = await board.http
        .post('/api/v1/artifacts')
        .set({ 'X-Idempotency-Key': `part-${n}`, 'X-Correlation-ID': `part-${n}` })
        .send({ type: 'Part', payload: { shop: 'm', n } })
        .expect(200);
      return JSON.stringify(body);
    };
    const first = await publish(1);
    expect(await publish(1)).toBe(first);
    expect(await verdict('part-1')).toMatchObject({
      verdict: 'window_filling',
      detail: expect.stringContaining('of the key "m" that has 1 so far'),
    });
    await publish(2);
    await board.ended('part-2');
    expect(await packs('part-2')).toEqual([[1, 2]]);
    // The window is closed, and the artifact does not open another one.
    expect(await publish(1)).toBe(first);
    const { body } = await board.http.get('/api/v1/waiting').query({ correlation_id: 'part-1' }).expect(200);
    expect((body as { items: object[] }).items).toEqual([]);
  });

  it('gather by the digest of a long key', async () => {
    const shop = (last: string): string => 'x'.repeat(1_000) + last;
    await board.publish('Part', { shop: shop('a'), n: 1 });
    await board.publish('Part', { shop: shop('b'), n: 2 });
    const last = await board.publish('Part', { shop: shop('a'), n: 3 });
    await board.ended(last);
    expect(await packs(last)).toEqual([[1, 3]]);
    const { body } = await board.http.get('/api/v1/waiting').query({ agent: 'patient', limit: 100 }).expect(200);
    const keys = (body as { items: { join_key: string }[] }).items.map(({ join_key: key }) => key);
    expect(keys).toContainEqual(expect.stringMatching(/^sha256:[0-9a-f]{64}$/));
  });

  it('take no artifact without a key, and explain says it', async () => {
    const [none, wrong] = [await board.publish('Part', { shop: null }), await board.publish('Part', {})];
    expect([await verdict(none), await verdict(wrong)]).toMatchObject([
      { verdict: 'key_null', detail: 'batch.key is null for this artifact, so it joins no window.' },
      {
        verdict: 'key_error',
        detail: expect.stringMatching(/^batch\.key failed for this artifact, so it joins no window: .*shop/),
      },
    ]);
  });

  it('are listed with their keys while they wait', async () => {
    const id = await board.publish('Item', { shop: 'e', n: 1 });
    const { body } = await board.http.get(`/api/v1/correlations/${id}/waiting`).expect(200);
    expect((body as { items: object[] }).items).toMatchObject([
      { kind: 'window', agent: 'packer', join_key: '"e"', size: 1, size_needed: 3, waiting_for: [] },
    ]);
    expect(await verdict(id)).toMatchObject({
      verdict: 'window_filling',
      join_key: '"e"',
      detail: expect.stringMatching(/^It is in a batch window of the key "e" that has 1 so far and runs with 3 or at /),
    });
    await board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
  });

  it('lose the artifacts of a cancelled correlation, and keep the others', async () => {
    const gone = await board.publish('Item', { shop: 'f', n: 1 });
    const kept = await board.publish('Item', { shop: 'f', n: 2 });
    await board.publish('Item', { shop: 'g', n: 3 }, { correlation: gone });
    await board.http.post(`/api/v1/correlations/${gone}/cancel`).expect(200);
    await board.publish('Item', { shop: 'f', n: 4 });
    const last = await board.publish('Item', { shop: 'f', n: 5 });
    await board.ended(last);
    expect(await packs(last)).toEqual([[2, 4, 5]]);
    expect(await board.ended(kept)).toMatchObject({ state: 'completed' });
    const { body } = await board.http.get('/api/v1/waiting').query({ agent: 'packer' }).expect(200);
    expect((body as { items: object[] }).items).toEqual([]);
  });

  it('make executions whose limits see the list, and which clients claim', async () => {
    const outside = new Outside(board.http);
    for (const shop of ['h', 'h', 'i', 'i', 'h', 'h']) await board.publish('Task', { shop });
    const claimed: string[] = [];
    await eventually('one of each key is claimed', async () => {
      const held = await outside.claim({ agents: ['person'], max: 5 });
      claimed.push(...held.map(({ inputs }) => inputs.map(({ payload }) => payload.shop).join('')));
      return claimed.length === 2;
    });
    expect(claimed.sort()).toEqual(['hh', 'ii']);
    expect(await outside.claim({ agents: ['person'], max: 5 })).toEqual([]);
  });

  it('of a replay are apart from live ones', async () => {
    const original = await board.publish('Part', { shop: 'j', n: 1 });
    const { body } = await board.http
      .post(`/api/v1/correlations/${original}/replay`)
      .send({ mode: 'full' })
      .expect(200);
    const { correlation_id: replay } = body as { correlation_id: string };
    await board.ended(replay);
    // Its window could never be full, so it is dropped.
    const waiting = await board.http.get('/api/v1/waiting').query({ correlation_id: replay }).expect(200);
    expect((waiting.body as { items: object[] }).items).toEqual([]);
    const last = await board.publish('Part', { shop: 'j', n: 2 });
    await board.ended(last);
    expect(await packs(last)).toEqual([[1, 2]]);
  });
});

/** Uses the whole app over HTTP, stopped and started again with another configuration on one database. */
describe('a window by a key', () => {
  it('waits while the configuration has another key, or none, and continues in its own subscription', async () => {
    const folder = new ConfigurationFolder();
    const configuration = (batch: string): string =>
      `agents:\n  packer: { consumes: [{ types: [Part], batch: ${batch} }], ${NUMBERS} }\n`;
    let board = await Board.start(configuration('{ size: 2, key: payload.shop }'), { folder: folder.path });
    const restart = async (batch: string): Promise<void> => {
      await board.close();
      board = await Board.start(configuration(batch), { folder: folder.path });
    };
    try {
      await board.publish('Part', { shop: 'a', n: 1 });
      for (const batch of ['{ size: 2, key: payload.other }', '{ size: 2 }']) {
        await restart(batch);
        const id = await board.publish('Part', { shop: 'a', other: 'a', n: 2 });
        expect(await board.ended(id)).toMatchObject({ artifact_count: 1 });
      }
      await restart('{ size: 2, timeout: 1h, key: payload.shop }');
      const last = await board.publish('Part', { shop: 'a', n: 3 });
      await board.ended(last);
      expect((await board.artifacts(last, { type: 'Pack' })).map(({ payload }) => payload)).toEqual([{ ns: [1, 3] }]);
    } finally {
      await board.close();
      await board.app.database.drop();
      folder.remove();
    }
  });
});

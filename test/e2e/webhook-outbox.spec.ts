import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { UNKNOWN_ID, uuid } from '../contract/rows.js';
import { REFUSED_URLS } from '../outbound/refused-urls.js';
import { Board } from './board.js';
import { SERVER, WORKER } from './replica-boards.js';

interface Delivery {
  delivery_id: string;
  state: string;
  target_id: string;
  target_origin: string;
  correlation_id: string;
  artifact_id: string;
  sequence: number;
  attempts?: object[];
}

const CONFIG = `
types:
  Order: {}
agents:
  packer:
    consumes: [{ types: [Order], tags: [pack] }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: '[{"n": 1.0}, {"n": 2.0}]' }
  failing:
    consumes: [{ types: [Order], tags: [fail] }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: '{"n": payload.missing}' }
    retry: { attempts: 1 }
`;
const SETTINGS = { secretKey: '0f'.repeat(32) };
const HOOK = 'https://hooks.example.com/in?token=path-token';
const SECRET = 'a secret that nobody is shown';

async function deliveriesOf(board: Board, query: object): Promise<Delivery[]> {
  const response = await board.http
    .get('/api/v1/webhooks/deliveries')
    .query({ limit: 500, ...query })
    .expect(200);
  return (response.body as { items: Delivery[] }).items;
}

// Checks deliveries as they are stored and shown. This process delivers nothing, so that they stay unchanged.
describe('the deliveries of a publish', () => {
  let board: Board;
  let correlations = 0;
  const newCorrelation = (): string => `order-${(correlations += 1)}`;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { role: SERVER, settings: SETTINGS });
  });
  afterAll(() => board.close());

  const publish = (correlation: string, webhook?: object, path = '/api/v1/artifacts') =>
    board.http.post(path).set('X-Correlation-ID', correlation).send({ type: 'Order', webhook });
  /** Returns them oldest first, as sequence, state and origin. */
  const owed = async (correlation: string) =>
    (await deliveriesOf(board, { correlation_id: correlation }))
      .reverse()
      .map(({ sequence, state, target_origin }) => [sequence, state, target_origin]);
  /** Writes the state that the end of its last try leaves. */
  const end = (id: string, state: 'delivered' | 'dead'): Promise<unknown> =>
    board.app.app.get(UnitOfWork, { strict: false }).run(async (tx) => {
      await tx.db
        .updateTable('deliveries')
        .set({
          state: state as never,
          ended_at: 1_800_000_000_000,
          attempt: 2,
          last_status: 500,
          last_error: 'it answered 500',
        })
        .where('id', '=', id)
        .execute();
      const tried = { delivery_id: id, started_at: 1_800_000_000_000, duration_ms: 12 };
      await tx.db
        .insertInto('delivery_attempts')
        .values([
          { ...tried, attempt: 1, status: null, error: 'the connection was refused' },
          { ...tried, attempt: 2, status: 500, error: 'it answered 500' },
        ])
        .execute();
    });

  it.each(['/api/v1/artifacts', '/api/v1/artifacts/sync'])(
    'are one for each later artifact of the correlation: %s',
    async (path) => {
      const correlation = newCorrelation();
      await publish(correlation, undefined, path).expect(200);
      await publish(correlation, { url: HOOK, secret: SECRET }, path).expect(200);
      await publish(correlation, undefined, path).expect(200);
      await publish(newCorrelation(), undefined, path).expect(200);
      const artifacts = await board.artifacts(correlation);
      expect(await deliveriesOf(board, { correlation_id: correlation })).toMatchObject([
        { sequence: 3, state: 'waiting', artifact_id: artifacts[2]!.id, target_origin: 'https://hooks.example.com' },
        { sequence: 2, state: 'pending', artifact_id: artifacts[1]!.id, delivery_id: uuid },
      ]);
    },
  );

  it('are none without a target', async () => {
    const correlation = newCorrelation();
    await publish(correlation).expect(200);
    expect(await owed(correlation)).toEqual([]);
  });

  it('go to every target of the correlation, in separate groups', async () => {
    const correlation = newCorrelation();
    await publish(correlation, { url: 'https://one.example/' }).expect(200);
    await publish(correlation, { url: 'https://two.example/' }).expect(200);
    await publish(correlation, { url: 'https://ONE.example:443' }).expect(200);
    expect((await owed(correlation)).sort()).toEqual([
      [1, 'pending', 'https://one.example'],
      [2, 'pending', 'https://two.example'],
      [2, 'waiting', 'https://one.example'],
      [3, 'waiting', 'https://one.example'],
      [3, 'waiting', 'https://two.example'],
    ]);
  });

  it('wait only while an earlier delivery of their group has not finished', async () => {
    const correlation = newCorrelation();
    await publish(correlation, { url: HOOK }).expect(200);
    const [first] = await deliveriesOf(board, { correlation_id: correlation });
    await end(first!.delivery_id, 'dead');
    await publish(correlation).expect(200);
    expect((await owed(correlation)).map(([, state]) => state)).toEqual(['dead', 'pending']);
  });

  it('share one target for equal URLs and secrets, in every correlation', async () => {
    const targets = await Promise.all(
      [
        { url: HOOK, secret: SECRET },
        { url: HOOK, secret: SECRET },
        { url: HOOK },
        { url: HOOK },
        { url: HOOK, secret: `${SECRET}!` },
      ].map(async (webhook) => {
        const correlation = newCorrelation();
        await publish(correlation, webhook).expect(200);
        return (await deliveriesOf(board, { correlation_id: correlation }))[0]!.target_id;
      }),
    );
    expect(targets.map((target) => targets.indexOf(target))).toEqual([0, 0, 2, 2, 4]);
  });

  it('go to ten targets of a correlation at most; a publish that names one more is refused and stores nothing', async () => {
    const correlation = newCorrelation();
    for (let n = 1; n <= 10; n += 1) await publish(correlation, { url: `https://${n}.example/` }).expect(200);
    await publish(correlation, { url: 'https://11.example/' }).expect(400, {
      detail: `webhook: correlation ${correlation} already has the maximum of 10 targets; publish without webhook, or into another correlation`,
    });
    await publish(correlation, { url: 'https://10.example/' }).expect(200);
    expect(await board.artifacts(correlation)).toHaveLength(11);
    expect(await board.app.database.rows("select id from webhook_targets where url = 'https://11.example/'")).toEqual(
      [],
    );
  });

  it('are one group with one head, and have one target, if many publishes name a new one together', async () => {
    const correlation = newCorrelation();
    const others = Array.from({ length: 10 }, newCorrelation);
    const webhook = { url: 'https://at-once.example/', secret: SECRET };
    await Promise.all(
      [...others, ...Array<string>(10).fill(correlation)].map((id) => publish(id, webhook).expect(200)),
    );
    const deliveries = await Promise.all(
      [correlation, ...others].map((id) => deliveriesOf(board, { correlation_id: id })),
    );
    expect(deliveries.map((group) => group.map(({ state }) => state).reverse())).toEqual([
      ['pending', ...Array<string>(9).fill('waiting')],
      ...Array<string[]>(10).fill(['pending']),
    ]);
    expect(deliveries[0]!.map(({ sequence }) => sequence)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(new Set(deliveries.flat().map(({ target_id }) => target_id)).size).toBe(1);
  });

  it('are written once for a publish that is repeated with its idempotency key', async () => {
    const correlation = newCorrelation();
    for (let n = 0; n < 3; n += 1)
      await publish(correlation, { url: HOOK }).set('X-Idempotency-Key', correlation).expect(200);
    expect(await owed(correlation)).toEqual([[1, 'pending', 'https://hooks.example.com']]);
  });

  it.each(Object.entries(REFUSED_URLS))(
    'are refused for such a URL with a 400, which stores nothing: %s',
    async (_kind, urls) => {
      const correlation = newCorrelation();
      for (const url of urls) {
        const { status, body } = await publish(correlation, { url });
        expect({ url, status, body }).toEqual({
          url,
          status: 400,
          body: { detail: expect.stringMatching(/^webhook\.url: must \S/) },
        });
      }
      expect(await board.status(correlation)).toMatchObject({ state: 'not_found' });
    },
  );

  describe('in the API', () => {
    it('are found by state, target, correlation and artifact, newest first and in pages', async () => {
      const correlation = newCorrelation();
      for (let n = 0; n < 5; n += 1) await publish(correlation, { url: 'https://pages.example/' }).expect(200);
      const all = await deliveriesOf(board, { correlation_id: correlation });
      const ids = all.map(({ delivery_id }) => delivery_id);
      expect(all.map(({ sequence }) => sequence)).toEqual([5, 4, 3, 2, 1]);
      expect(
        (await deliveriesOf(board, { target_id: all[0]!.target_id })).map(({ delivery_id }) => delivery_id),
      ).toEqual(ids);
      expect(
        (await deliveriesOf(board, { artifact_id: all[2]!.artifact_id })).map(({ delivery_id }) => delivery_id),
      ).toEqual([ids[2]]);
      expect(
        (await deliveriesOf(board, { state: 'pending', correlation_id: correlation })).map(
          ({ delivery_id }) => delivery_id,
        ),
      ).toEqual([ids[4]]);
      expect((await deliveriesOf(board, { state: 'dead' })).every(({ state }) => state === 'dead')).toBe(true);
      const page = (
        await board.http
          .get('/api/v1/webhooks/deliveries')
          .query({ correlation_id: correlation, limit: 2, offset: 1 })
          .expect(200)
      ).body as { items: Delivery[]; pagination: object };
      expect([page.items.map(({ delivery_id }) => delivery_id), page.pagination]).toEqual([
        ids.slice(1, 3),
        { limit: 2, offset: 1, has_more: true },
      ]);
    });

    it.each([
      ['state=lost', 'state: must be one of waiting, pending, running, delivered, dead'],
      ['limit=501', 'limit: must be a whole number from 1 to 500'],
      ['offset=-1', 'offset: must be a whole number from 0 to 1000000'],
    ])('refuse %s', async (query, detail) => {
      await board.http.get(`/api/v1/webhooks/deliveries?${query}`).expect(400, { detail });
    });

    it('have their tries, and can be sent again once they have finished', async () => {
      const correlation = newCorrelation();
      await publish(correlation, { url: HOOK }).expect(200);
      const [{ delivery_id: id }] = (await deliveriesOf(board, { correlation_id: correlation })) as [Delivery];
      const path = `/api/v1/webhooks/deliveries/${id}`;
      expect((await board.http.get(path).expect(200)).body).toMatchObject({
        state: 'pending',
        attempt: 1,
        attempts: [],
      });
      await board.http.post(`${path}/redeliver`).expect(409, {
        detail: `Delivery ${id} has not ended yet (pending); only a delivered or dead one can be sent again`,
      });

      for (const state of ['dead', 'delivered'] as const) {
        await end(id, state);
        const ended = (await board.http.get(path).expect(200)).body as Delivery;
        expect(ended).toMatchObject({ state, attempt: 2, last_status: 500, ended_at: '2027-01-15T08:00:00.000Z' });
        expect(ended.attempts!.slice(0, 2)).toEqual([
          { attempt: 1, started_at: '2027-01-15T08:00:00.000Z', duration_ms: 12, error: 'the connection was refused' },
          {
            attempt: 2,
            started_at: '2027-01-15T08:00:00.000Z',
            duration_ms: 12,
            status: 500,
            error: 'it answered 500',
          },
        ]);
        const again = (await board.http.post(`${path}/redeliver`).expect(200)).body as Delivery;
        expect(again).toMatchObject({ delivery_id: id, state: 'pending', attempt: 1 });
        expect(again).not.toHaveProperty('ended_at');
      }
    });

    it('wait for their turn when they are sent again while their group is being delivered', async () => {
      const correlation = newCorrelation();
      await publish(correlation, { url: HOOK }).expect(200);
      const [first] = await deliveriesOf(board, { correlation_id: correlation });
      await end(first!.delivery_id, 'delivered');
      await publish(correlation).expect(200);
      await board.http.post(`/api/v1/webhooks/deliveries/${first!.delivery_id}/redeliver`).expect(200);
      expect((await owed(correlation)).map(([sequence, state]) => [sequence, state])).toEqual([
        [1, 'waiting'],
        [2, 'pending'],
      ]);
    });

    it.each([UNKNOWN_ID, 'no-id'])('are unknown by the id %s', async (id) => {
      const detail = { detail: `Delivery not found: ${id}` };
      await board.http.get(`/api/v1/webhooks/deliveries/${id}`).expect(404, detail);
      await board.http.post(`/api/v1/webhooks/deliveries/${id}/redeliver`).expect(404, detail);
    });
  });
});

describe('with a webhook_url', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, {
      role: WORKER,
      settings: { webhookUrl: 'http://127.0.0.1:9/hook', webhookSecret: [SECRET], shutdownGraceMs: 0 },
    });
  });
  afterAll(() => board.close());

  const sequences = async (correlation: string): Promise<number[]> =>
    (await deliveriesOf(board, { correlation_id: correlation })).map(({ sequence }) => sequence).reverse();

  it('include every artifact: published ones, outputs and errors, each with its number', async () => {
    for (const tag of ['pack', 'fail']) {
      const correlation = await board.publish('Order', {}, { tags: [tag] });
      await board.ended(correlation);
      const artifacts = await board.artifacts(correlation);
      expect(artifacts.length).toBe(tag === 'pack' ? 3 : 2);
      expect(
        (await deliveriesOf(board, { correlation_id: correlation }))
          .reverse()
          .map(({ sequence, artifact_id }) => [sequence, artifact_id]),
      ).toEqual(artifacts.map(({ id }, index) => [index + 1, id]));
    }
  });

  it('include the artifacts of runs and direct runs', async () => {
    const run = (await board.http.post('/run/flock').send({ agent_name: 'packer', inputs: {} }).expect(200)).body as {
      run_id: string;
    };
    expect(await sequences(run.run_id)).toEqual([1, 2, 3]);
    await board.http
      .post('/api/v1/agents/packer/run')
      .send({ inputs: [{ type: 'Order', payload: {} }] })
      .expect(200);
    const [newest] = await deliveriesOf(board, { limit: 1 });
    expect(await sequences(newest!.correlation_id)).toEqual([1, 2, 3]);
  });

  it("go to a client's target too, even if it has the same URL at a public address", async () => {
    const response = await board.http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', webhook: { url: 'https://hooks.example.com/' } })
      .expect(200);
    const deliveries = await deliveriesOf(board, { correlation_id: response.headers['x-correlation-id'] });
    expect(deliveries.map(({ target_origin }) => target_origin).sort()).toEqual([
      'http://127.0.0.1:9',
      'https://hooks.example.com',
    ]);
  });
});

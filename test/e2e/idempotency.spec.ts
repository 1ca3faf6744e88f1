import type { Test } from 'supertest';

import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { ExpiredKeys } from '../../src/features/idempotency/expired-keys.js';
import { startApp, type TestApp, type TestAppOptions } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';

const CONFIG = `
types:
  Question: { schema: { type: object, required: [n], properties: { n: { type: number } } } }
agents:
  answerer:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: '{"n": payload.n + 1.0}' }
  sleeper:
    consumes: [{ types: [Endless] }]
    publishes: [{ type: Never }]
    timeout: 1h
    engine: { kind: function, module: ./sleeper.js }
`;

const SLEEPER = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

const DAY_MS = 24 * 3_600_000;
const QUESTION = { type: 'Question', payload: { n: 1 } };

/** Uses the application, its database and HTTP. A test moves the clock by hand if it says so. */
describe('X-Idempotency-Key', () => {
  let app: TestApp;

  const start = (options: TestAppOptions = {}): Promise<TestApp> =>
    startApp({ config: CONFIG, files: { 'sleeper.js': SLEEPER }, ...options });
  const publish = (key: string, body: object = QUESTION): Test =>
    app.http.post('/api/v1/artifacts').set('X-Idempotency-Key', key).send(body);
  const publishSync = (key: string, body: object = QUESTION): Test =>
    app.http.post('/api/v1/artifacts/sync').set('X-Idempotency-Key', key).send(body);
  const published = async (type = 'Question'): Promise<number> =>
    ((await app.http.get(`/api/v1/artifacts?type=${type}`)).body as { pagination: { total: number } }).pagination.total;

  afterEach(() => app.close());

  describe('by the system clock', () => {
    beforeEach(async () => {
      app = await start();
    });

    it.each([
      ['sync', publishSync],
      ['async', publish],
    ])('processes fifty parallel %s publishes once, with fifty equal answers', async (_name, send) => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => send('parallel')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => headers['x-correlation-id'])).size).toBe(1);
      expect(answers.filter(({ headers }) => headers['x-idempotency-replayed'] === 'true')).toHaveLength(49);
      expect(await published()).toBe(1);
    });

    it('answers a later request with the first answer, including the correlation id', async () => {
      const first = await publishSync('later').set('X-Correlation-ID', 'first');
      const second = await publishSync('later').set('X-Correlation-ID', 'second');
      expect(first.headers).not.toHaveProperty('x-idempotency-replayed');
      expect(second.headers).toMatchObject({
        'x-idempotency-replayed': 'true',
        'x-correlation-id': 'first',
        'content-type': 'application/json; charset=utf-8',
      });
      expect(second.headers).not.toHaveProperty('x-idempotency-mismatch');
      expect(second.text).toBe(first.text);
      expect(second.body).toMatchObject({
        correlation_id: 'first',
        completed: true,
        artifacts: [{ payload: { n: 2 } }],
      });
      expect(await published()).toBe(1);
    });

    it('answers another body with the cached answer, and marks it', async () => {
      const first = await publishSync('body', { ...QUESTION, tags: ['a'] });
      const other = await publishSync('body', { ...QUESTION, tags: ['b'] });
      expect(other.headers).toMatchObject({ 'x-idempotency-replayed': 'true', 'x-idempotency-mismatch': 'true' });
      expect(other.text).toBe(first.text);

      const reordered = await publishSync('body', { tags: ['a'], payload: { n: 1 }, type: 'Question' });
      expect(reordered.headers).not.toHaveProperty('x-idempotency-mismatch');
    });

    it('marks the answer to a waiting request with another body too', async () => {
      const [a, b] = await Promise.all([
        publishSync('waiting', QUESTION),
        publishSync('waiting', { ...QUESTION, tags: ['b'] }),
      ]);
      const mismatches = [a, b].map(({ headers }) => headers['x-idempotency-mismatch']);
      expect(mismatches.filter((mismatch) => mismatch === 'true')).toHaveLength(1);
      expect(a.text).toBe(b.text);
    });

    it('keeps the keys of each endpoint separate', async () => {
      const async = await publish('both');
      const sync = await publishSync('both');
      expect(async.body).toEqual({ status: 'accepted' });
      expect(sync.body).toMatchObject({ completed: true });
      expect(sync.headers).not.toHaveProperty('x-idempotency-replayed');
      expect(await published()).toBe(2);
    });

    it('processes a request with another key', async () => {
      await publish('one');
      await publish('two');
      expect(await published()).toBe(2);
    });

    it('caches no error: the key is free for the next request', async () => {
      const refused = await publish('error', { type: 'Question', payload: { n: 'one' } });
      expect(refused.status).toBe(400);
      const accepted = await publish('error');
      expect(accepted.status).toBe(200);
      expect(accepted.headers).not.toHaveProperty('x-idempotency-replayed');
      expect(accepted.headers).not.toHaveProperty('x-idempotency-mismatch');
      expect((await publish('error')).headers['x-idempotency-replayed']).toBe('true');
      expect(await published()).toBe(1);
    });

    it('gives each parallel request an error if they fail', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => publish('errors', { type: 'Nothing' })));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(400));
    });

    it.each([
      ['empty', ''],
      ['too long', 'k'.repeat(256)],
      ['with a space', 'a key'],
    ])('refuses a key that is %s', async (_name, key) => {
      const refused = await publish(key);
      expect([refused.status, refused.body]).toEqual([
        400,
        { detail: 'X-Idempotency-Key: must be 1 to 255 visible ASCII characters' },
      ]);
      expect(await published()).toBe(0);
    });

    it('accepts a key of 255 visible characters', async () => {
      expect((await publish('!~'.repeat(127) + 'k')).status).toBe(200);
    });

    it('refuses a malformed X-Correlation-ID before it reserves the key', async () => {
      expect((await publish('correlation').set('X-Correlation-ID', 'a b')).status).toBe(400);
      expect((await publish('correlation')).headers).not.toHaveProperty('x-idempotency-replayed');
    });

    it('survives a restart', async () => {
      const first = app;
      const answer = await publishSync('restart');
      first.lifecycle.stop();
      await first.app.close();
      const second = await start({ folder: first.folder });
      app = { ...second, close: async () => (await second.close(), first.close()) };
      const replayed = await publishSync('restart');
      expect(replayed.text).toBe(answer.text);
      expect(replayed.headers['x-idempotency-replayed']).toBe('true');
    });
  });

  describe('by a clock that stands still', () => {
    let clock: ManualClock;

    beforeEach(async () => {
      clock = new ManualClock();
      // A grace period would wait for the clock, which no longer moves.
      app = await start({ clock, settings: { shutdownGraceMs: 0 } });
    });

    it('keeps an answer for 24 hours', async () => {
      const first = await publishSync('expiry');
      clock.advance(DAY_MS - 1);
      expect((await publishSync('expiry')).text).toBe(first.text);
      clock.advance(1);
      const fresh = await publishSync('expiry');
      expect(fresh.headers).not.toHaveProperty('x-idempotency-replayed');
      expect((fresh.body as { correlation_id: string }).correlation_id).not.toBe(first.headers['x-correlation-id']);
      expect(await published()).toBe(2);
    });

    it('belongs to the process that the list of processes names', async () => {
      await publish('owned');
      const { owner } = await app.app
        .get(UnitOfWork, { strict: false })
        .reader.selectFrom('idempotency_keys')
        .select('owner')
        .where('key', '=', 'owned')
        .executeTakeFirstOrThrow();
      const { body } = await app.http.get('/api/v1/processes').expect(200);
      expect(body).toMatchObject({ processes: [{ id: owner }] });
    });

    it('removes expired keys', async () => {
      const stored = async (): Promise<number> => {
        const rows = await app.app
          .get(UnitOfWork, { strict: false })
          .reader.selectFrom('idempotency_keys')
          .select('key')
          .execute();
        return rows.length;
      };
      await Promise.all(Array.from({ length: 20 }, (_, n) => publish(`old-${n}`)));
      clock.advance(DAY_MS);
      await publish('young');
      await app.app.get(ExpiredKeys, { strict: false }).remove();
      expect(await stored()).toBe(1);
      expect((await publish('young')).headers['x-idempotency-replayed']).toBe('true');
    });

    it('caches an answer that was sent before the workflow had finished', async () => {
      const body = { type: 'Endless', timeout: 300 };
      const waiting = publishSync('timeout', body).then((response) => response);
      await eventually('the artifact is published', async () => (await published('Endless')) === 1);
      // Longer than a lease: the reservation is renewed meanwhile.
      let answered = false;
      void waiting.then(() => (answered = true));
      await eventually('the timeout has passed', () => {
        clock.advance(10_000);
        return answered;
      });
      const first = await waiting;
      expect(first.body).toMatchObject({ completed: false, artifacts: [] });
      const second = await publishSync('timeout', body);
      expect(second.text).toBe(first.text);
      expect(second.headers['x-idempotency-replayed']).toBe('true');
      expect(await published('Endless')).toBe(1);
    });
  });
});

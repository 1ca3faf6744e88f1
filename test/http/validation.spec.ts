// Uses the edge over HTTP before a sample controller: which bodies and queries are accepted, and the errors for the
// others.
import request from 'supertest';

import { ValidationPipe } from '../../src/http/validation/validation-pipe.js';
import { type SampleApp, SampleBody, startSampleApp } from './sample-app.js';

let sample: SampleApp;
beforeAll(async () => void (sample = await startSampleApp()));
afterAll(() => sample.app.close());

const post = (body: object) => request(sample.app.getHttpServer()).post('/echo').send(body);
const query = (text: string) => request(sample.app.getHttpServer()).get(`/query${text}`);

describe('bodies', () => {
  it.each([
    [{ timeout: 301 }, 'timeout: must not be greater than 300; type: is required'],
    [{ type: null }, 'type: must be a string'],
    [{ type: 7 }, 'type: must be a string'],
    [{ type: 'A', timeout: '30' }, 'timeout: must be a number'],
    [{ type: 'A', timeout: 0 }, 'timeout: must not be less than 1'],
    [{ type: 'A', payload: [] }, 'payload: must be an object'],
    [{ type: 'A', filters: { type_names: [1] } }, 'filters.type_names: each value must be a string'],
    [{ type: 'A', filters: [] }, 'filters: must be an object'],
    [{ type: 'A', filters: { type_names: { constructor: 'x' } } }, 'filters: must not hold a key named constructor'],
    [{ type: { constructor: 'x' } }, 'type: must not hold a key named constructor'],
    [{ type: 'A', timout: 3 }, 'timout: is not a known field; did you mean timeout?'],
    [
      { type: 'A', filters: { types: [], type_names: [] } },
      'filters.types: is not a known field; known here: type_names',
    ],
    [{ type: 'A', constructor: 'x' }, 'constructor: is not a known field; known here: type, timeout, filters, payload'],
    [[], 'The body must be a JSON object'],
  ])('%j is refused: %s', async (body, detail) => {
    await post(body).expect(400, { detail });
  });

  it('may have many values in fields that contain user data', async () => {
    const many = Array.from({ length: 10_000 }, () => 'a');
    await post({ type: 'A', filters: { type_names: many } }).expect(400, {
      detail: 'filters: must not hold more than 10000 values',
    });
    await post({ type: 'A', payload: { many } }).expect(200);
  });

  it('become instances of their DTO', async () => {
    const { body } = await post({ type: 'A' }).expect(200);
    expect(body).toEqual({ body: { type: 'A' }, class: 'SampleBody', correlationId: null });
  });

  it('of a class that ignores unknown fields become instances without them', async () => {
    const { body } = await request(sample.app.getHttpServer())
      .post('/older')
      .send({ type: 'A', unknown: { deep: 1 }, constructor: 'harmless' })
      .expect(200);
    expect(body).toEqual({ body: { type: 'A' }, class: 'OlderBody' });
  });

  it.each(['null', '"text"', '7', 'true'])('%s is refused as it is not an object', async (body) => {
    const answer = await request(sample.app.getHttpServer()).post('/echo').type('json').send(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ detail: 'The body must be a JSON object' });
  });

  it('without bytes are refused', async () => {
    await request(sample.app.getHttpServer()).post('/echo').expect(400, { detail: 'The body must be a JSON object' });
  });
});

describe('a payload', () => {
  it('arrives as it was sent, whatever its keys mean in JavaScript', async () => {
    const payload = {
      then: 'x',
      toString: 'y',
      constructor: 'z',
      length: 3,
      a: [{ hasOwnProperty: null }],
      nothing: null,
    };
    const { body } = await post({ type: 'A', payload }).expect(200);
    expect(body.body.payload).toEqual(payload);
  });

  it('of 200 KB is the very object that was parsed: it is neither copied nor walked', () => {
    const payload = {
      rows: Array.from({ length: 3_000 }, (_, index) => ({ index, text: 'some words that a customer wrote' })),
    };
    const body = new ValidationPipe().transform(
      { type: 'A', payload },
      { type: 'body', metatype: SampleBody },
    ) as SampleBody;
    expect(body).toBeInstanceOf(SampleBody);
    expect(body.payload).toBe(payload);
  });

  it('of 200 KB arrives whole', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => ({ index, text: 'some words that a customer wrote' }));
    const { body } = await post({ type: 'A', payload: { rows } }).expect(200);
    expect(body.body.payload).toEqual({ rows });
  });
});

describe('queries', () => {
  it('are coerced as the DTO says, and get its defaults', async () => {
    await query('').expect(200, { limit: 50, offset: 0, embed_meta: false, order: 'asc' });
    await query(
      '?limit=7&offset=2&embed_meta=True&from=2026-11-20&type=A&type=B&correlation_id=7&order=desc&other=1',
    ).expect(200, {
      limit: 7,
      offset: 2,
      embed_meta: true,
      from: Date.UTC(2026, 10, 20),
      type: ['A', 'B'],
      correlation_id: '7',
      order: 'desc',
    });
    await query('?type=A').expect(({ body }) => expect(body.type).toEqual(['A']));
  });

  it.each([
    ['?limit=0', 'limit: must be a whole number from 1 to 500'],
    ['?limit=501', 'limit: must be a whole number from 1 to 500'],
    ['?limit=abc', 'limit: must be a whole number from 1 to 500'],
    ['?limit=', 'limit: must be a whole number from 1 to 500'],
    ['?limit=1e2', 'limit: must be a whole number from 1 to 500'],
    ['?offset=-1', 'offset: must be a whole number of at least 0'],
    ['?offset=99999999999999999999', 'offset: must be a whole number of at least 0'],
    ['?limit=1&limit=2', 'limit: must be given once'],
    ['?from=2026-01-01&from=2026-01-02', 'from: must be given once'],
    ['?embed_meta=maybe', 'embed_meta: must be true or false'],
    [
      '?from=yesterday',
      'Invalid from: yesterday; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
    ],
    [
      '?from=2026-02-30',
      'Invalid from: 2026-02-30; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24',
    ],
    ['?order=up', 'order: must be one of asc, desc'],
    ['?limit=x&embed_meta=y', 'embed_meta: must be true or false; limit: must be a whole number from 1 to 500'],
  ])('%s is refused: %s', async (text, detail) => {
    await query(text).expect(400, { detail });
  });

  it.each([
    ['true', true],
    ['1', true],
    ['TRUE', true],
    ['false', false],
    ['0', false],
    ['False', false],
  ])('embed_meta=%s means %s', async (text, meaning) => {
    await query(`?embed_meta=${text}`).expect(({ body }) => expect(body.embed_meta).toBe(meaning));
  });

  it.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T10:00:00.123456', '2026-11-20T10:00:00.123Z'],
    ['2026-11-20T10:00:00%2B02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T10:00:00+02:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20 10:00', '2026-11-20T10:00:00.000Z'],
  ])('from=%s means %s', async (text, meaning) => {
    const { body } = await query(`?from=${text}`).expect(200);
    expect(new Date(body.from as number).toISOString()).toBe(meaning);
  });

  it.each([
    '?type[a]=b',
    '?__proto__=1&constructor=2',
    '?limit[]=1',
    '?%FF=1&type=%',
    `?${'x=1&'.repeat(3_000)}`,
    '?&&&=',
    '?type',
  ])('%.30s is not a server error', async (text) => {
    await query(text).expect(200);
  });

  it('of a thousand values lose none', async () => {
    const { body } = await query(`?${'type=A&'.repeat(2_000)}`).expect(200);
    expect(body.type).toHaveLength(2_000);
  });
});

describe('X-Correlation-ID', () => {
  it.each(['order-4711', '!', 'x'.repeat(200)])('%.20s is accepted, and is in the answer', async (id) => {
    const answer = await post({ type: 'A' }).set('X-Correlation-ID', id).expect(200).expect('X-Correlation-ID', id);
    expect(answer.body.correlationId).toBe(id);
  });

  it.each(['two words', 'x'.repeat(201), 'caf\u00e9', '', 'a, b'])('%.20j is refused', async (id) => {
    const detail = 'X-Correlation-ID: must be 1 to 200 visible ASCII characters';
    await post({ type: 'A' }).set('X-Correlation-ID', id).expect(400, { detail });
  });
});

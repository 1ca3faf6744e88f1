// Uses the application as `main` builds it, on both databases, over HTTP, server-sent events and WebSocket. Nothing is
// faked.
import { connect } from 'node:net';

import { EventSource, type MessageEvent } from 'undici';

import {
  type Entry,
  liveEventsBeforeEntries,
  type OpenReader,
  queryOf,
  type Reader,
  type ReadParts,
  SseReader,
  WebSocketReader,
} from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Board } from './board.js';

const CONFIG = `
types: { Note: {} }
agents:
  echo:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  many:
    consumes: [{ types: [Seed] }]
    publishes: [{ type: Grain }]
    engine: { kind: function, module: ./many.js }
  failing:
    consumes: [{ types: [Doom] }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: payload.missing }
    retry: { attempts: 2, delay: 1ms }
`;

const FILES = {
  'package.json': '{"type":"module"}',
  'many.js': 'export default async ([{ payload }]) => Array.from({ length: payload.count }, (_, n) => ({ n }));',
};

interface Page {
  items: Entry[];
  pagination: { limit: number; after: number; next: number; has_more: boolean };
}

const READERS: [string, OpenReader][] = [
  ['server-sent events', (url, parts) => SseReader.open(url, parts)],
  ['WebSocket', (url, parts) => WebSocketReader.open(url, parts)],
  ['WebSocket at its other path', (url, parts) => WebSocketReader.open(url, parts, '/ws/changelog')],
];

let board: Board;
const readers: Reader[] = [];
beforeAll(async () => {
  board = await Board.start(CONFIG, {
    files: FILES,
    settings: { allowedHosts: ['desk.test'], corsOrigins: ['https://app.test'] },
  });
});
afterEach(() => readers.splice(0).forEach((reader) => reader.close()));
afterAll(() => board.close());

async function opened(open: OpenReader, parts: ReadParts = {}): Promise<Reader> {
  const reader = await open(board.app.url, parts);
  readers.push(reader);
  return reader;
}

const events = async (parts: Record<string, unknown> = {}): Promise<Page> =>
  (await board.http.get(`/api/v1/changelog/events?${queryOf(parts as ReadParts)}`).expect(200)).body as Page;

/** Reads everything that exists, or that matches. */
async function allEntries(parts: ReadParts = {}): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = parts.after ?? 0; ;) {
    const { items, pagination } = await events({ ...parts, after, limit: 500 });
    entries.push(...items);
    if (!pagination.has_more) return entries;
    after = pagination.next;
  }
}

const end = async (): Promise<number> => (await allEntries()).at(-1)?.seq ?? 0;
const has = (reader: Reader, count: number): Promise<void> =>
  eventually(`${count} entries came`, () => reader.entries.length >= count);
const publishAll = async (count: number, correlation: string): Promise<void> => {
  for (let n = 0; n < count; n += 1) await board.publish('Note', { n }, { correlation });
};

describe('GET /api/v1/changelog/events', () => {
  it('returns one entry for each artifact, in the order of positions, without its payload', async () => {
    const correlation = await board.publish(
      'Question',
      { n: 1 },
      { correlation: 'listed', visibility: { kind: 'Private', agents: ['echo'] } },
    );
    await board.ended(correlation);
    const [question, answer] = await board.artifacts(correlation);
    const { items } = await events({ correlation_id: correlation });
    expect(items).toEqual([
      {
        seq: expect.any(Number),
        event_type: 'artifact_published',
        artifact_id: question!.id,
        artifact_type: 'Question',
        produced_by: 'external',
        correlation_id: 'listed',
        visibility: { kind: 'Private', agents: ['echo'] },
        timestamp: (question as unknown as { created_at: string }).created_at,
      },
      expect.objectContaining({ artifact_id: answer!.id, artifact_type: 'Answer', produced_by: 'echo' }),
    ]);
    expect(items[1]!.seq).toBeGreaterThan(items[0]!.seq);
  });

  it('continues with `next`, also from its end', async () => {
    await publishAll(5, 'paged');
    const all = await allEntries();
    const found: Entry[] = [];
    let page: Page = await events({ limit: 2 });
    for (; page.pagination.has_more; page = await events({ limit: 2, after: page.pagination.next }))
      found.push(...page.items);
    found.push(...page.items);
    expect(found).toEqual(all);
    const { items, pagination } = await events({ after: page.pagination.next });
    expect([items, pagination]).toEqual([
      [],
      { limit: 50, after: all.at(-1)!.seq, next: all.at(-1)!.seq, has_more: false },
    ]);
    await publishAll(1, 'paged');
    expect((await events({ after: pagination.next })).items).toMatchObject([{ correlation_id: 'paged' }]);
  });

  it('lists the newest first, and `next` leads to older entries until the first one', async () => {
    await publishAll(5, 'backwards');
    for (const filter of [{}, { correlation_id: 'backwards' }, { artifact_type: ['Note', 'Answer'] }]) {
      const all = await allEntries(filter);
      const found: Entry[] = [];
      let page: Page = await events({ ...filter, order: 'desc', limit: 3 });
      expect(page.pagination.after).toBe((await end()) + 1);
      for (
        ;
        page.pagination.has_more;
        page = await events({ ...filter, order: 'desc', limit: 3, after: page.pagination.next })
      )
        found.push(...page.items);
      found.push(...page.items);
      expect(found).toEqual(all.reverse());
    }
  });

  it('an older page is the same after further artifacts, and one that begins beyond the end begins at the end', async () => {
    await publishAll(3, 'stable');
    const { items, pagination } = await events({ order: 'desc', limit: 2 });
    await publishAll(2, 'stable');
    expect((await events({ order: 'desc', limit: 2, after: pagination.after })).items).toEqual(items);
    expect((await events({ order: 'desc', limit: 1, after: 1_000_000 })).items).toEqual((await allEntries()).slice(-1));
    expect(await events({ order: 'desc', after: 0 })).toEqual({
      items: [],
      pagination: { limit: 50, after: 0, next: 0, has_more: false },
    });
  });

  it('filters by correlation, type and producer: any of several values, and all of several names', async () => {
    for (const n of [1, 2]) await board.ended(await board.publish('Question', { n }, { correlation: `filtered-${n}` }));
    await publishAll(1, 'filtered-1');
    const shown = async (parts: ReadParts): Promise<string[]> =>
      (await allEntries(parts))
        .map(({ correlation_id, artifact_type }) => `${correlation_id} ${artifact_type}`)
        .filter((one) => one.startsWith('filtered'));
    expect(await shown({ correlation_id: 'filtered-1' })).toEqual([
      'filtered-1 Question',
      'filtered-1 Answer',
      'filtered-1 Note',
    ]);
    expect(await shown({ correlation_id: ['filtered-2', 'filtered-1'], produced_by: 'echo' })).toEqual([
      'filtered-1 Answer',
      'filtered-2 Answer',
    ]);
    expect(await shown({ artifact_type: ['Answer', 'Note'] })).toEqual([
      'filtered-1 Answer',
      'filtered-2 Answer',
      'filtered-1 Note',
    ]);
    expect(await shown({ artifact_type: ['Answer', 'Question'], produced_by: ['external', 'many'] })).toEqual([
      'filtered-1 Question',
      'filtered-2 Question',
    ]);
    expect(await shown({ correlation_id: 'nobody' })).toEqual([]);
  });

  it('ends a page after it has checked thousands, and `next` leads to the matches behind them', async () => {
    const correlation = await board.publish('Seed', { count: 1_000 }, { correlation: 'vast' });
    for (let n = 0; n < 5; n += 1) await board.publish('Seed', { count: 1_000 }, { correlation });
    await board.ended(correlation);
    await publishAll(1, correlation);

    const rare = { correlation_id: correlation, artifact_type: 'Note' };
    const { items, pagination } = await events(rare);
    expect([items, pagination.has_more]).toEqual([[], true]);
    const [note, ...others] = await allEntries(rare);
    expect([note!.artifact_type, others]).toEqual(['Note', []]);
    expect(pagination.next).toBeLessThan(note!.seq);
    expect(pagination.next).toBeGreaterThan(0);
  });
});

describe.each(READERS)('a stream by %s', (protocol, open) => {
  it('begins now, and shows the same entries as the events list', async () => {
    await publishAll(2, 'before');
    const reader = await opened(open);
    expect(reader.begunBehind).toBe(await end());
    await board.ended(await board.publish('Question', { n: 1 }));
    await has(reader, 2);
    expect(reader.entries).toEqual(await allEntries({ after: reader.begunBehind }));
  });

  it('shows everything from a position on, once and in order, while more is published', async () => {
    await board.publish('Seed', { count: 700 }, { correlation: 'seeds' });
    await board.ended('seeds');
    const random = new Random(printedSeed());
    const started = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        if (index % 3 === 0) await publishAll(random.between(1, 5), 'meanwhile');
        return opened(open, {
          after: random.between(0, 500),
          ...(index % 2 === 0 && { correlation_id: ['seeds', 'meanwhile'], artifact_type: ['Note', 'Grain'] }),
        });
      }),
    );
    await publishAll(3, 'meanwhile');
    const all = await allEntries();
    for (const [index, reader] of started.entries()) {
      const isAskedFor = ({ correlation_id: correlation, artifact_type: type }: Entry): boolean =>
        index % 2 > 0 || (['seeds', 'meanwhile'].includes(correlation) && ['Note', 'Grain'].includes(type));
      const expected = all.filter((entry) => entry.seq > reader.begunBehind && isAskedFor(entry));
      await has(reader, expected.length);
      expect(reader.entries).toEqual(expected);
    }
  });

  it('shows only what matches its filter', async () => {
    const reader = await opened(open, {
      correlation_id: ['mine', 'ours'],
      artifact_type: ['Question', 'Note'],
      produced_by: 'external',
    });
    await board.ended(await board.publish('Question', { n: 1 }, { correlation: 'mine' }));
    await publishAll(1, 'theirs');
    await publishAll(1, 'ours');
    await has(reader, 2);
    expect(reader.entries.map(({ correlation_id, artifact_type }) => [correlation_id, artifact_type])).toEqual([
      ['mine', 'Question'],
      ['ours', 'Note'],
    ]);
  });

  it('shows live events only on request, and then those of its correlations', async () => {
    const [told, doomed] = [`told by ${protocol}`.replaceAll(' ', '-'), `doomed by ${protocol}`.replaceAll(' ', '-')];
    const [without, all, mine] = [
      await opened(open),
      await opened(open, { live: true }),
      await opened(open, { live: true, correlation_id: told }),
    ];
    await board.ended(await board.publish('Doom', {}, { correlation: doomed }));
    await board.ended(await board.publish('Question', { n: 1 }, { correlation: told }));
    const kinds = (reader: Reader, correlation: string): string[] =>
      reader.liveEvents.filter((event) => event.correlation_id === correlation).map(({ event_type }) => event_type);
    await eventually('the correlation is shown as settled', () => kinds(mine, told).includes('correlation_settled'));
    expect(mine.liveEvents).toMatchObject([
      { event_type: 'execution_started', agent: 'echo', attempt: 1 },
      { event_type: 'artifact_consumed', artifact_id: (await board.artifacts(told))[0]!.id, consumer: 'echo' },
      { event_type: 'execution_succeeded', agent: 'echo', attempt: 1 },
      { event_type: 'correlation_settled', correlation_id: told, state: 'completed' },
    ]);
    await eventually('the other reader has all too', () => kinds(all, told).length === 4);
    expect(kinds(all, doomed)).toEqual([
      'execution_started',
      'execution_retrying',
      'execution_started',
      'artifact_consumed',
      'execution_failed',
      'correlation_settled',
    ]);
    await has(mine, 2);
    expect(without.liveEvents).toEqual([]);
  });

  it('shows live events after these artifacts, even while it catches up', async () => {
    const before = await end();
    const ids = Array.from({ length: 40 }, (_, n) => `${protocol} in order ${n}`.replaceAll(' ', '-'));
    const live = await opened(open, { live: true });
    await Promise.all(ids.slice(0, 20).map((correlation, n) => board.publish('Question', { n }, { correlation })));
    const late = await opened(open, { live: true, after: before });
    await Promise.all(ids.slice(20).map((correlation, n) => board.publish('Question', { n }, { correlation })));
    const settled = ({ liveEvents }: Reader): Entry[] =>
      liveEvents.filter(({ event_type: type }) => type === 'correlation_settled');
    await eventually(
      'all live events came',
      () => settled(live).length === 40 && live.entries.length === 80 && late.entries.length === 80,
    );
    await eventually('both readers have the end', () =>
      settled(late).some(({ correlation_id: id }) => id === settled(live).at(-1)!.correlation_id),
    );
    expect([...liveEventsBeforeEntries(live.all), ...liveEventsBeforeEntries(late.all)]).toEqual([]);
  });

  it('shows the progress of runs and batches', async () => {
    const reader = await opened(open, { live: true });
    const { body: run } = (await board.http
      .post('/run/flock')
      .send({ agent_name: 'echo', inputs: { n: 1 } })
      .expect(200)) as { body: { run_id: string } };
    const of = (type: string): object[] => reader.liveEvents.filter(({ event_type }) => event_type === type);
    await eventually('the run is shown as finished', () => of('run_progress').length === 2);
    expect(of('run_progress')).toMatchObject([
      { run_id: run.run_id, correlation_id: run.run_id, agent: 'echo', status: 'starting' },
      { run_id: run.run_id, status: 'completed' },
    ]);
    const { body: batch } = (await board.http
      .post('/run/batch')
      .send({ agent_name: 'echo', batch_inputs: [{ n: 1 }, { n: 2 }] })
      .expect(200)) as { body: { batch_id: string } };
    await eventually('the batch is shown as finished', () =>
      of('batch_progress').some((event) => (event as { status: string }).status === 'completed'),
    );
    expect(of('batch_progress').at(-1)).toMatchObject({
      batch_id: batch.batch_id,
      agent: 'echo',
      status: 'completed',
      total_items: 2,
      completed_items: 2,
      failed_items: 0,
    });
  });
});

describe('server-sent events', () => {
  const stream = (headers: Record<string, string>, parts: ReadParts = {}): Promise<SseReader> =>
    SseReader.open(board.app.url, parts, headers);

  it('have headers that keep proxies from buffering them', async () => {
    const reader = await stream({});
    readers.push(reader);
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    expect(reader.parser.comments).toEqual([`entries behind ${reader.begunBehind}`]);
  });

  it('resume behind Last-Event-ID, which comes before `after`', async () => {
    await publishAll(3, 'resumed');
    const entries = await allEntries({ correlation_id: 'resumed' });
    const reader = await stream({ 'Last-Event-ID': String(entries[1]!.seq) }, { after: 0, correlation_id: 'resumed' });
    readers.push(reader);
    await has(reader, 1);
    expect([reader.begunBehind, reader.entries]).toEqual([entries[1]!.seq, [entries[2]]]);
  });

  it.each([
    ['garbage', 'abc'],
    ['a negative position', '-1'],
    ['not a whole number', '1.5'],
    ['nothing', ''],
    ['a position beyond the end', '900000000'],
  ])('are refused for a Last-Event-ID that is %s, with what to send', async (_case, id) => {
    const last = await end();
    await expect(stream({ 'Last-Event-ID': id })).rejects.toThrow(
      `400 {"detail":"Last-Event-ID: must be the position of an entry, from 0 to ${last} (got \\"${id}\\"); without it, a stream begins now"}`,
    );
  });

  it('and the list are refused for an `after` beyond the end', async () => {
    const detail = `after: must be the position of an entry, from 0 to ${await end()} (got "900000000"); without it, a stream begins now`;
    await expect(stream({}, { after: 900_000_000 })).rejects.toThrow(`400 ${JSON.stringify({ detail })}`);
    await board.http.get('/api/v1/changelog/events?after=900000000').expect(400, { detail });
    await board.http
      .get('/api/v1/changelog/stream?after=-1')
      .expect(400, { detail: 'after: must be a whole number of at least 0' });
  });

  it('answer HEAD without a stream', async () => {
    await board.http
      .head('/api/v1/changelog/stream')
      .expect(200)
      .expect('Content-Type', 'text/event-stream; charset=utf-8');
  });

  it('are understood by a client from npm, which does not mistake a position for an event', async () => {
    const seen: string[] = [];
    const source = new EventSource(`${board.app.url}/api/v1/changelog/stream?correlation_id=sourced&live=true`);
    source.onmessage = ({ data, lastEventId }) =>
      seen.push(`${(JSON.parse(data as string) as Entry).artifact_type} ${lastEventId}`);
    source.addEventListener('correlation_settled', (event) =>
      seen.push((JSON.parse((event as MessageEvent).data as string) as Entry).event_type),
    );
    await new Promise((resolve) => source.addEventListener('open', resolve));
    await board.ended(await board.publish('Question', { n: 1 }, { correlation: 'sourced' }));
    const entries = await allEntries({ correlation_id: 'sourced' });
    await eventually('all came', () => seen.length === 3);
    source.close();
    expect(seen).toEqual([
      ...entries.map(({ artifact_type, seq }) => `${artifact_type} ${seq}`),
      'correlation_settled',
    ]);
  });

  it('count as answered when they begin', async () => {
    const reader = await stream({});
    readers.push(reader);
    const count =
      'starling_http_request_duration_seconds_count{method="GET",route="/api/v1/changelog/stream",status="200"}';
    const { text } = await board.http.get('/metrics').expect(200);
    expect(text).toContain(count);
    expect(text).toMatch(/^starling_streams [1-9]/m);
    const longest =
      /duration_seconds_bucket\{le="(.+)",method="GET",route="\/api\/v1\/changelog\/stream",status="200"\} [1-9]/.exec(
        text,
      )![1];
    expect(Number(longest)).toBeLessThan(5);
    reader.close();
    readers.splice(0).forEach((one) => one.close());
    await eventually('no stream is counted', async () =>
      /^starling_streams 0$/m.test((await board.http.get('/metrics')).text),
    );
  });
});

describe('a WebSocket', () => {
  const refused = async (message: string): Promise<[number, string]> => {
    const reader = await WebSocketReader.connect(board.app.url);
    reader.socket.send(message);
    await eventually('it is closed', () => reader.hasEnded);
    return [reader.closeCode, reader.detail];
  };

  it('is also served at /ws/changelog', async () => {
    const reader = await WebSocketReader.open(board.app.url, { correlation_id: 'elsewhere' }, '/ws/changelog');
    readers.push(reader);
    await publishAll(1, 'elsewhere');
    await has(reader, 1);
  });

  it('misses nothing that is published before its filter arrives', async () => {
    const reader = await WebSocketReader.connect(board.app.url);
    readers.push(reader);
    await publishAll(1, 'before-the-filter');
    reader.socket.send(JSON.stringify({ correlation_id: 'before-the-filter' }));
    await has(reader, 1);
  });

  it.each([
    [
      'not JSON',
      'hello',
      'The first message must be a filter, as a JSON object: {"correlation_id": "order-4711", "after": 0}, or {} for everything from now on',
    ],
    [
      'not an object',
      '[]',
      'The first message must be a filter, as a JSON object: {"correlation_id": "order-4711", "after": 0}, or {} for everything from now on',
    ],
    [
      'wrong fields',
      '{"correlation_id": 1, "artifact_type": [null], "after": -1, "live": "yes"}',
      'after: must be a whole number of at least 0; artifact_type: must be a string, or a list of at most 50; correlation_id: must be a string, or a list of at most 50; live: must be true or false',
    ],
  ])('is closed for a first message that is %s, with what to send', async (_case, message, detail) => {
    expect(await refused(message)).toEqual([1_008, detail]);
  });

  it('is closed for a position beyond the end, and for a message that is too large', async () => {
    expect(await refused('{"after": 900000000}')).toEqual([
      1_008,
      `after: must be the position of an entry, from 0 to ${await end()} (got "900000000"); without it, a stream begins now`,
    ]);
    expect(await refused(`{"correlation_id": "${'x'.repeat(16_384)}"}`)).toEqual([1_009, '']);
  });

  it.each<[string, string, Record<string, string>, string]>([
    [
      'a foreign page',
      '/ws',
      { Origin: 'https://evil.test' },
      '403 {"detail":"Requests from Origin https://evil.test are not allowed; add the origin to cors_origins"}',
    ],
    [
      'a foreign host',
      '/ws',
      { Host: 'evil.test' },
      '403 {"detail":"Host evil.test is not allowed; add it to allowed_hosts"}',
    ],
    ['another path', '/elsewhere', {}, '404 {"detail":"No route for GET /elsewhere; /docs lists them all"}'],
  ])('is refused for %s', async (_case, path, headers, answer) => {
    await expect(WebSocketReader.connect(board.app.url, path, headers)).rejects.toThrow(answer);
  });

  it('is refused for a malformed handshake, with an error like any other', async () => {
    const socket = connect(Number(new URL(board.app.url).port), '127.0.0.1').end(
      'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const answer = Buffer.concat((await socket.toArray()) as Buffer[]).toString();
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 [^]*X-Request-ID: [0-9a-f-]{36}\r\n[^]*\{"detail":"The WebSocket handshake is wrong: Missing or invalid Sec-WebSocket-Key header"\}$/,
    );
  });

  it.each<[string, Record<string, string>]>([
    ['a listed page', { Origin: 'https://app.test' }],
    ['a listed host', { Host: 'desk.test' }],
  ])('is served to %s', async (_case, headers) => {
    readers.push(await WebSocketReader.connect(board.app.url, '/ws', headers));
  });
});

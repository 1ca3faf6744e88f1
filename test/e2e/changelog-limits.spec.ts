// Uses the application on both databases, over server-sent events and WebSocket. The clock is faked, so that heartbeats
// come when they are due.
import { once } from 'node:events';
import { get, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';

import { Streams } from '../../src/features/changelog/streams.js';
import { type Reader, SseReader, WebSocketReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = 'types: { Note: {} }\n';
const [ALL, OF_ONE] = [4, 3];
const BEAT_MS = 15_000;

const clock = new ManualClock();
let board: Board;
const readers: Reader[] = [];
beforeAll(async () => {
  board = await Board.start(CONFIG, {
    clock,
    settings: { maxStreams: ALL, maxStreamsPerAddress: OF_ONE, shutdownGraceMs: 0 },
  });
});
afterEach(async () => {
  readers.splice(0).forEach((reader) => reader.close());
  await streamsAre(0);
});
afterAll(() => board.close());

const streamsAre = (count: number): Promise<void> =>
  eventually(`${count} streams are open`, async () =>
    (await board.http.get('/metrics')).text.includes(`\nstarling_streams ${count}\n`),
  );

const sse = async (after?: number): Promise<SseReader> =>
  kept(await SseReader.open(board.app.url, { ...(after !== undefined && { after }) }));
const webSocket = async (after?: number): Promise<WebSocketReader> =>
  kept(await WebSocketReader.open(board.app.url, { ...(after !== undefined && { after }) }));

function kept<R extends Reader>(reader: R): R {
  readers.push(reader);
  return reader;
}

/** Entries of a quarter of a megabyte: a few dozen fill the system's buffers for a connection. */
const WIDE = { kind: 'Private', agents: Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(255, 'x')) };
const publishWide = (): Promise<string> => board.publish('Note', {}, { visibility: WIDE });

it('are limited in number, per address and in total; one that finishes frees its place', async () => {
  const [first] = [await sse(), await webSocket(), kept(await WebSocketReader.connect(board.app.url))];
  const refusal = `503 ${JSON.stringify({ detail: '3 streams are open from 127.0.0.1; close some, or raise max_streams_per_address' })}`;
  await expect(SseReader.open(board.app.url)).rejects.toThrow(refusal);
  await expect(WebSocketReader.connect(board.app.url)).rejects.toThrow(refusal);

  const fromElsewhere = async (): Promise<IncomingMessage> => {
    const request = get(`${board.app.url}/api/v1/changelog/stream`, { localAddress: '127.0.0.2', agent: false }).on(
      'error',
      () => undefined,
    );
    return new Promise((resolve) => request.once('response', resolve));
  };
  const other = await fromElsewhere();
  expect(other.statusCode).toBe(200);
  const refused = await fromElsewhere();
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
  expect((await refused.setEncoding('utf8').toArray()).join('')).toBe(
    JSON.stringify({ detail: '4 streams are open; close some, try again later, or raise max_streams' }),
  );
  await streamsAre(4);

  other.destroy();
  first.close();
  await streamsAre(2);
  await sse();
});

it('leave no connection open on which they were refused, even if its other end does', async () => {
  const connections = (): Promise<number> =>
    new Promise((resolve) =>
      (board.app.app.getHttpServer() as Server).getConnections((_error, count) => resolve(count)),
    );
  const { hostname, port } = new URL(board.app.url);
  const connection = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  connection.write(`GET /ws HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  expect((await connection.setEncoding('utf8').toArray()).join('')).toMatch(/^HTTP\/1\.1 400 /);
  await eventually('the service has closed it', async () => (await connections()) === 0);
  connection.destroy();
});

it('do not wait for the answer to an earlier request on their connection, which would buffer all their entries', async () => {
  const { hostname, port } = new URL(board.app.url);
  const connection = connect(Number(port), hostname);
  connection.write(`GET /api/v1/changelog/stream HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(2));
  const [head] = (await once(connection, 'data')) as [Buffer];
  expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
  await streamsAre(1);
  connection.destroy();
  const isRefusal = ({ path, status }: Record<string, unknown>): boolean =>
    path === '/api/v1/changelog/stream' && status === 400;
  await eventually('the second was refused', () => board.app.logLines.some(isRefusal));
});

it('send every 15 s a heartbeat, with the position to resume at', async () => {
  const [events, socket] = [await sse(), await webSocket()];
  let pings = 0;
  socket.socket.on('ping', () => (pings += 1));
  for (const beats of [1, 2, 3]) {
    clock.advance(BEAT_MS);
    await eventually(
      'both got a heartbeat',
      () => events.parser.comments.filter((comment) => comment === 'still here').length === beats && pings === beats,
    );
    // Its pong has arrived by then; without it, the next heartbeat would close the WebSocket.
    await board.publish('Note', {});
    await eventually('the entry came', () => events.entries.length === beats && socket.entries.length === beats);
  }
  expect([events.position, events.hasEnded, socket.hasEnded]).toEqual([events.entries[2]!.seq, false, false]);
});

it('close a WebSocket that does not answer', async () => {
  const silent = await webSocket();
  silent.socket.pong = () => undefined;
  clock.advance(BEAT_MS);
  expect(silent.hasEnded).toBe(false);
  clock.advance(BEAT_MS);
  await eventually('the silent one is closed', () => silent.hasEnded);
});

it('show a WebSocket that sends no filter within a second everything since it was connected', async () => {
  await board.publish('Note', {});
  const silent = kept(await WebSocketReader.connect(board.app.url));
  const correlations = [await board.publish('Note', {}), await board.publish('Note', {})];
  clock.advance(999);
  await board.publish('Note', {});
  expect([silent.begunBehind, silent.entries]).toEqual([NaN, []]);
  clock.advance(1);
  await eventually('it has all three', () => silent.entries.length === 3);
  correlations.push(await board.publish('Note', {}));
  await eventually('it continues', () => silent.entries.length === 4);
  expect(silent.entries.map(({ correlation_id }) => correlation_id)).toEqual([
    correlations[0],
    correlations[1],
    expect.any(String),
    correlations[2],
  ]);
  expect(silent.begunBehind).toBeLessThan(silent.entries[0]!.seq);
});

it('close a WebSocket whose filter comes too late, because it would get more than it asked for', async () => {
  const late = kept(await WebSocketReader.connect(board.app.url));
  clock.advance(1_000);
  await eventually('its stream has begun', () => !Number.isNaN(late.begunBehind));
  late.socket.send('{"correlation_id": "mine"}');
  await eventually('it is closed', () => late.hasEnded);
  expect([late.closeCode, late.detail]).toEqual([
    1_008,
    'The filter came later than 1 s after the connection, and the stream began without it; connect again and send it immediately',
  ]);
});

it.each([
  ['by server-sent events', sse],
  ['by WebSocket', webSocket],
])(
  'close %s for a reader that reads nothing while much is published, and other readers miss nothing',
  async (_protocol, open) => {
    const [stalled, reading] = [await open(), await open()];
    stalled.pause();
    const closings = (): number =>
      board.app.logLines.filter(({ msg }) => msg === 'a stream was closed: its reader is too slow').length;
    const closedBefore = closings();
    let published = 0;
    for (; closings() === closedBefore; published += 1) {
      expect(published).toBeLessThan(200);
      await publishWide();
      await eventually('the other reader has it', () => reading.entries.length === published + 1);
    }
    stalled.resume();
    await eventually('it is cut off', () => stalled.hasEnded);
    expect(stalled.entries.length).toBeLessThan(published);
    expect(stalled.entries).toEqual(reading.entries.slice(0, stalled.entries.length));

    const resumed = await open(stalled.position);
    await eventually('it has all the rest', () => stalled.entries.length + resumed.entries.length === published);
    expect([...stalled.entries, ...resumed.entries]).toEqual(reading.entries);
  },
);

it('close within two heartbeats for a reader that resumes and reads nothing', async () => {
  const live = await sse();
  await Promise.all(Array.from({ length: 45 }, publishWide));
  await eventually('all have arrived', () => live.entries.length === 45);
  // It is paused immediately: while the other one connects, it could receive everything.
  const stalled = await sse(live.begunBehind);
  stalled.pause();
  const reading = await sse(live.begunBehind);
  await eventually('the other has everything', () => reading.entries.length === 45);
  for (let beat = 0; beat < 3; beat += 1) {
    clock.advance(BEAT_MS);
    await eventually(
      'the other got a heartbeat',
      () => reading.parser.comments.filter((comment) => comment === 'still here').length === beat + 1,
    );
  }
  stalled.resume();
  await eventually('it is cut off', () => stalled.hasEnded);
  expect([stalled.entries.length < 45, reading.hasEnded]).toEqual([true, false]);
});

it('all close when the service stops, which then accepts no more', async () => {
  const [events, socket, stalled] = [
    await sse(),
    await webSocket(),
    kept(await WebSocketReader.connect(board.app.url)),
  ];
  stalled.pause();
  // Sent when the open ones are being closed.
  const late = board.app.app
    .get(Streams, { strict: false })
    .begin(
      { filter: { correlationIds: [], types: [], producers: [], replays: false }, after: null, live: false },
      () => {
        throw new Error('it must not begin');
      },
    )
    .catch((error: Error) => error.message);
  board.app.lifecycle.stop();
  expect(await late).toBe('The service is stopping; connect again in a moment');
  await eventually('both have finished', () => events.hasEnded && socket.hasEnded);
  expect(socket.closeCode).toBe(1_001);
  const refusal = `503 ${JSON.stringify({ detail: 'The service is stopping; connect again in a moment' })}`;
  await expect(SseReader.open(board.app.url)).rejects.toThrow(refusal);
  await expect(WebSocketReader.connect(board.app.url)).rejects.toThrow(refusal);
  // Includes clients that do not answer.
  await streamsAre(0);
});

describe('behind proxies', () => {
  let proxied: Board;
  beforeAll(async () => {
    proxied = await Board.start(CONFIG, {
      settings: {
        maxStreamsPerAddress: 1,
        trustedProxies: ['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8'],
        shutdownGraceMs: 0,
      },
    });
  });
  afterAll(() => proxied.close());

  const open: (() => void)[] = [];
  afterEach(() => open.splice(0).forEach((close) => close()));

  async function status(path: string, headers: Record<string, string>): Promise<number> {
    const request = get(`${proxied.app.url}${path}`, { agent: false, headers }).on('error', () => undefined);
    open.push(() => request.destroy());
    return new Promise((resolve) => {
      request.once('response', (response) => resolve(response.statusCode!));
      request.once('upgrade', (response) => resolve(response.statusCode!));
    });
  }
  const stream = (forwarded: string): Promise<number> =>
    status('/api/v1/changelog/stream', { 'x-forwarded-for': forwarded });
  const socket = (forwarded: string): Promise<number> =>
    status('/ws', {
      'x-forwarded-for': forwarded,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    });

  it('streams are counted for the last untrusted address', async () => {
    expect(await stream('203.0.113.1')).toBe(200);
    expect(await stream('203.0.113.2, 10.1.2.3')).toBe(200);
    // Any client can have written the entries before the last untrusted address.
    expect(await stream('198.51.100.7, 203.0.113.1, 10.1.2.3')).toBe(503);
    expect(await socket('203.0.113.2')).toBe(503);
    expect(await socket('203.0.113.3')).toBe(101);
    expect(await stream('2001:db8::1')).toBe(200);
    // Addresses of one network.
    expect(await stream('2001:db8::2, fd00::1')).toBe(503);
    expect(await stream('nonsense')).toBe(200);
    expect(await stream('others')).toBe(503);
  });

  it('an address with a port after it counts as the same address', async () => {
    expect(await stream('203.0.113.4:5678')).toBe(200);
    expect(await stream('203.0.113.4:5679')).toBe(503);
    expect(await stream('203.0.113.5:5678, 10.1.2.3:443')).toBe(200);
    expect(await stream('203.0.113.5')).toBe(503);
    expect(await stream('[2001:db8:1::1]:443')).toBe(200);
    expect(await stream('[2001:db8:1::2]')).toBe(503);
  });
});

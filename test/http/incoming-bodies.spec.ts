// Uses the edge on a socket before a sample controller, with a clock that the test moves: bodies that do not arrive,
// their memory meanwhile, and the limit for inflated bodies.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { type SampleApp, startSampleApp } from './sample-app.js';

const MIB = 1_024 * 1_024;

let clock: ManualClock;
let memory: MemoryBudget;
let sample: SampleApp;
let port: number;
beforeEach(async () => {
  clock = new ManualClock();
  memory = new MemoryBudget(16 * MIB);
  sample = await startSampleApp({ maxConnections: 20 }, { clock, memory });
  port = Number(new URL(await sample.app.getUrl()).port);
});
afterEach(() => sample.app.close());

/** A connection that a test writes to by hand, and the response so far. */
class Wire {
  private constructor(
    readonly socket: Socket,
    public received = '',
  ) {}

  static async open(text: string): Promise<Wire> {
    const wire = new Wire(connect(port, '127.0.0.1'));
    wire.socket.on('data', (chunk) => (wire.received += String(chunk))).on('error', () => undefined);
    await once(wire.socket, 'connect');
    wire.socket.write(text);
    return wire;
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.received)?.[1]);
  }

  get detail(): string {
    return (JSON.parse(this.received.slice(this.received.indexOf('\r\n\r\n'))) as { detail: string }).detail;
  }
}

const head = (headers: string, path = '/echo'): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`;

const post = (body: RequestInit['body'], headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/echo`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('a body that does not arrive', () => {
  it('is a 408 when its time is over, and the connection closes', async () => {
    const wire = await Wire.open(`${head('Content-Length: 1000000')}${' '.repeat(300_000)}`);
    await eventually('its beginning has arrived', () => memory.usedBytes >= 300_000);
    clock.advance(59_000);
    expect((await post('{"type":"A"}')).status).toBe(200);
    expect(wire.received).toBe('');
    clock.advance(1_000);
    await once(wire.socket, 'close');
    expect([wire.status, wire.detail]).toEqual([408, 'The body did not arrive within 60 s']);
    expect(wire.received).toContain('Connection: close');
    await eventually('its memory is free', () => memory.usedBytes === 0);
  });

  it('is a 408 if it arrives more slowly than allowed', async () => {
    const wire = await Wire.open(`${head('Content-Length: 100000')}${' '.repeat(5_000)}`);
    await eventually('its beginning has arrived', () => memory.usedBytes > 0);
    clock.advance(10_000);
    await once(wire.socket, 'close');
    expect([wire.status, wire.detail]).toEqual([408, 'The body arrived more slowly than 1024 bytes per second']);
  });

  it('closes the connection if the request was answered without it', async () => {
    const wire = await Wire.open(
      head('Content-Length: 100', '/nope').replace('POST', 'DELETE').replace('application/json', 'text/plain'),
    );
    await eventually('it is answered', () => wire.status > 0);
    expect(wire.socket.destroyed).toBe(false);
    clock.advance(61_000);
    await once(wire.socket, 'close');
  });

  it('does not shorten the time of others', async () => {
    const slow = await Wire.open(`${head('Content-Length: 100')}{`);
    await eventually('its beginning has arrived', () => memory.usedBytes > 0);
    clock.advance(5_000);
    const answer = await post('{"type":"A"}');
    expect(answer.status).toBe(200);
    clock.advance(5_000);
    await once(slow.socket, 'close');
    expect(slow.status).toBe(408);
  });
});

describe('a body in chunks', () => {
  const chunks = (text: string, times: number): string => `${text.length.toString(16)}\r\n${text}\r\n`.repeat(times);

  it('is a 400 if they are many and tiny, and the connection closes', async () => {
    const wire = await Wire.open(head('Transfer-Encoding: chunked'));
    wire.socket.write(chunks(' ', 100_001));
    await once(wire.socket, 'close');
    expect([wire.status, wire.detail]).toEqual([
      400,
      'The body arrived in more than 100000 parts of less than 8 bytes on average; send larger parts',
    ]);
    await eventually('its memory is free', () => memory.usedBytes === 0);
  });

  it.each([
    ['many that are not tiny', chunks(' '.repeat(9), 101_000)],
    ['tiny ones that are not as many', chunks(' ', 99_000)],
  ])('may arrive in %s', async (_what, tiny) => {
    const wire = await Wire.open(head('Transfer-Encoding: chunked'));
    wire.socket.write(`${tiny}${chunks('{"type":"A"}', 1)}0\r\n\r\n`);
    await eventually('it is answered', () => wire.status === 200);
    wire.socket.destroy();
  });
});

describe('memory', () => {
  it('is reserved for bytes that arrive, and freed with the answer', async () => {
    const wire = await Wire.open(`${head('Content-Length: 500000')}${' '.repeat(300_000)}`);
    await eventually('it is reserved', () => memory.usedBytes >= 300_000);
    wire.socket.write(`${' '.repeat(199_988)}{"type":"A"}`);
    await eventually('it is answered', () => wire.status === 200);
    expect(memory.usedBytes).toBe(0);
  });

  it('is freed when a client disconnects', async () => {
    const wire = await Wire.open(`${head('Content-Length: 500000')}${' '.repeat(300_000)}`);
    await eventually('it is reserved', () => memory.usedBytes >= 300_000);
    wire.socket.destroy();
    await eventually('its memory is free', () => memory.usedBytes === 0);
  });

  it('stays available to others beside many unfinished bodies', async () => {
    const wires = await Promise.all(
      Array.from({ length: 15 }, () => Wire.open(`${head('Content-Length: 1000000')}${' '.repeat(999_999)}`)),
    );
    await eventually('the excess is refused', () => wires.filter(({ status }) => status === 503).length >= 7);
    expect(memory.usedBytes).toBeLessThanOrEqual(8 * MIB);
    const refused = wires.find(({ status }) => status === 503)!;
    expect(refused.received).toContain('Retry-After: 1');
    expect((await post('{"type":"A"}')).status).toBe(200);
    wires.forEach(({ socket }) => socket.destroy());
    await eventually('all memory is free', () => memory.usedBytes === 0);
  });

  it('counts the parsed value of a body, which can be twenty times as large', async () => {
    const half = `{"type":"A","payload":{"list":[${'{},'.repeat(150_000)}{}]}}`;
    expect((await post(half)).status).toBe(200);
    const whole = `{"type":"A","payload":{"list":[${'{},'.repeat(300_000)}{}]}}`;
    const answer = await post(whole);
    expect([answer.status, await answer.json()]).toEqual([
      413,
      {
        detail: expect.stringMatching(
          /^The body would take \d{8} bytes of memory, and memory_budget allows 14680064 to one request$/,
        ),
      },
    ]);
    expect(memory.usedBytes).toBe(0);
  });

  it('is refused with 503 while it is in use', async () => {
    const held = memory.reserve(10 * MIB);
    const body = `{"type":"A","payload":{"list":[${'{},'.repeat(150_000)}{}]}}`;
    const answer = await post(body);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await post('{"type":"A"}')).status).toBe(200);
    held.release();
    expect((await post(body)).status).toBe(200);
  });
});

describe('a compressed body', () => {
  const refusal = { detail: 'The body inflates to more than 100 times its compressed size; send it uncompressed' };
  const spaces = (bytes: number): Buffer => Buffer.from(`{"type":"A"}`.padEnd(bytes));

  it.each([
    ['gzip', gzipSync(spaces(MIB - 1))],
    ['br', brotliCompressSync(spaces(MIB - 1))],
  ])('of %s is a 413 if it inflates to more than a hundred times its size', async (encoding, body) => {
    const answer = await post(body, { 'content-encoding': encoding });
    expect([answer.status, await answer.json()]).toEqual([413, refusal]);
    expect(memory.usedBytes).toBe(0);
  });

  it('may always inflate to 64 KiB', async () => {
    expect((await post(gzipSync(spaces(65_536)), { 'content-encoding': 'gzip' })).status).toBe(200);
    expect((await post(gzipSync(spaces(65_537)), { 'content-encoding': 'gzip' })).status).toBe(413);
  });

  it('is inflated if its data compresses to a tenth', async () => {
    const rows = Array.from({ length: 8_000 }, (_, index) => ({
      index,
      text: `what customer ${index * 7_919} wrote about card ${index * 104_729}`,
    }));
    const answer = await post(gzipSync(JSON.stringify({ type: 'A', payload: { rows } })), {
      'content-encoding': 'gzip',
    });
    expect(answer.status).toBe(200);
  });
});

it('connections past max_connections are closed, and the log says so once', async () => {
  const wires = await Promise.all(Array.from({ length: 20 }, () => Wire.open('')));
  const closed = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { socket } = await Wire.open('');
      if (!socket.destroyed) await once(socket, 'close');
      return socket.destroyed;
    }),
  );
  expect(closed).toEqual([true, true, true]);
  expect(sample.logLines.filter(({ msg }) => String(msg).includes('max_connections'))).toEqual([
    expect.objectContaining({ level: 40, dropped: 1 }),
  ]);
  wires.forEach(({ socket }) => socket.destroy());
  await eventually('there is memory again', async () => (await post('{"type":"A"}')).status === 200);
});

// Uses the application on both databases, with 16 MiB for clients' data, over HTTP. The clock is faked, so that slow
// readers are detected quickly.
import { createHash, randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, type SyncAnswer, type WireArtifact } from './board.js';

const CONFIG = `
types: { Note: {}, Small: {} }
agents:
  many:
    consumes: [{ types: [Wanted] }]
    publishes: [{ type: Large }]
    engine: { kind: function, module: ./large.js }
  later:
    consumes: [{ types: [Later] }]
    publishes: [{ type: Large }]
    engine: { kind: function, module: ./large.js }
`;

const MIB = 1_024 ** 2;
const BUDGET = 16 * MIB;

const FILES = {
  'package.json': '{"type":"module"}',
  'large.js':
    'export default async ([{ payload }]) => Array.from({ length: payload.count }, (_, n) => ({ n, text: `é${n}`.padEnd(payload.size, ".") }));',
};

const clock = new ManualClock();
let board: Board;
beforeAll(async () => {
  board = await Board.start(CONFIG, {
    files: FILES,
    clock,
    settings: { memoryBudgetBytes: BUDGET, bodyLimitBytes: 2 * MIB },
  });
});
afterAll(() => board.close());

const memory = (): MemoryBudget => board.app.app.get(MemoryBudget);
const nothingIsReserved = (): Promise<void> => eventually('all memory is free', () => memory().usedBytes === 0);
afterEach(() => nothingIsReserved());

async function large(correlation: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await board.publish('Note', { n, text: `é${n}`.padEnd(MIB, '.') }, { correlation, tags: [`n:${n}`] });
}
const list = (query: string): Promise<Response> => fetch(`${board.app.url}/api/v1/artifacts?${query}`);
const items = async (query: string): Promise<WireArtifact[]> =>
  ((await (await list(query)).json()) as { items: WireArtifact[] }).items;

/** A client that sends a request, and reads nothing until the test says so. */
async function silentReader(path: string): Promise<Socket> {
  const { port } = new URL(board.app.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}

describe('a page of large artifacts', () => {
  const COUNT = 30;
  beforeAll(() => large('page', COUNT));

  it('is complete, however large it is compared with the memory, with its consumers on request', async () => {
    const found = await items('correlation_id=page&limit=500');
    expect(found).toHaveLength(COUNT);
    const {
      items: [first],
      pagination,
    } = (await (await list('correlation_id=page&limit=2&offset=3&embed_meta=true')).json()) as {
      items: WireArtifact[];
      pagination: object;
    };
    expect(first).toEqual({ ...found[3], consumptions: [], consumed_by: [] });
    expect(pagination).toEqual({ limit: 2, offset: 3, total: COUNT });
    const alone = await board.http.get(`/api/v1/artifacts/${found[7]!.id}`).expect(200);
    expect(alone.body).toEqual(found[7]);
  });

  it('answers several parallel readers within the memory', async () => {
    let most = 0;
    const looking = setInterval(() => (most = Math.max(most, memory().usedBytes)), 1);
    const digests = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const digest = createHash('sha256');
        for await (const chunk of (await list('correlation_id=page&limit=500')).body!) digest.update(chunk);
        return digest.digest('hex');
      }),
    );
    clearInterval(looking);
    expect(new Set(digests).size).toBe(1);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(BUDGET);
  });

  it('is refused if there is no memory for its first part, while small answers are sent', async () => {
    const taken = memory().reserve(memory().largestBytes);
    const refused = await list('correlation_id=page');
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      503,
      '1',
      { detail: 'The service has no memory for this request now; try again' },
    ]);
    await board.http.get('/api/v1/artifacts?correlation_id=unknown').expect(200);
    taken.release();
  });

  it('continues in the middle of an answer while others use all other memory', async () => {
    const response = await list('correlation_id=page&limit=500');
    const taken = memory().reserve(memory().largestBytes - memory().usedBytes);
    const text = await response.text();
    expect((JSON.parse(text) as { items: unknown[] }).items).toHaveLength(COUNT);
    taken.release();
  });

  it('is cut off for a reader that reads nothing, after the time that the least rate allows, and sooner if memory is short', async () => {
    const reader = await silentReader('/api/v1/artifacts?correlation_id=page&limit=500');
    // While the service reads from the database, nothing moves for a moment either.
    let [used, unchanged] = [0, 0];
    await eventually('its connection is full, and nothing moves any more', () => {
      const before = used;
      used = memory().usedBytes;
      unchanged = used > 0 && used === before ? unchanged + 1 : 0;
      return unchanged >= 50;
    });
    clock.advance(30_000);
    expect(memory().usedBytes).toBeGreaterThan(0);
    await eventually('it is cut off', () => {
      clock.advance(10_000);
      return memory().usedBytes === 0;
    });
    reader.destroy();

    const [first, second] = [
      await silentReader('/api/v1/artifacts?correlation_id=page&limit=500'),
      await silentReader('/api/v1/artifacts?correlation_id=page&limit=500'),
    ];
    await eventually('their connections are full', () => memory().usedBytes > MIB);
    const taken = memory().reserve(memory().largestBytes - memory().usedBytes);
    await eventually('both are cut off', async () => {
      // The request is refused or waits for the readers that read nothing: time passes for it too.
      const asked = list('correlation_id=page').then(
        (response) => response.text(),
        () => '',
      );
      clock.advance(3_000);
      await Promise.race([
        asked,
        eventually('they are cut off', () => (clock.advance(3_000), memory().usedBytes === taken.bytes)),
      ]);
      return memory().usedBytes === taken.bytes;
    });
    taken.release();
    first.destroy();
    second.destroy();
  });

  it('frees its memory if its reader disconnects', async () => {
    const reader = await silentReader('/api/v1/artifacts?correlation_id=page&limit=500');
    await eventually('its connection is full', () => memory().usedBytes > 0);
    reader.destroy();
    await nothingIsReserved();
  });

  it('has no body for HEAD', async () => {
    const response = await fetch(`${board.app.url}/api/v1/artifacts?correlation_id=page&limit=500`, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'application/json; charset=utf-8',
      '',
    ]);
  });
});

describe('the answer to a publish that waits', () => {
  const publish = (type: string, payload: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${board.app.url}/api/v1/artifacts/sync`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ type, payload, timeout: 60 }),
    });

  it.each([
    ['large', { count: 40, size: MIB }],
    ['many', { count: 900, size: 3_000 }],
    ['small', { count: 3, size: 10 }],
  ])(
    'is complete if its artifacts are %s, and byte for byte the same under its key, whatever is published later',
    async (_what, payload) => {
      const headers = { 'X-Idempotency-Key': randomUUID(), 'X-Correlation-ID': randomUUID() };
      const [first, beside] = await Promise.all([
        publish('Wanted', payload, headers),
        publish('Wanted', payload, headers),
      ]);
      const text = await first.text();
      const answer = JSON.parse(text) as SyncAnswer;
      expect(answer.artifacts.map(({ payload: { n } }) => n)).toEqual(
        Array.from({ length: payload.count }, (_, n) => n),
      );
      expect(answer.artifacts.every(({ payload: { text: made } }) => (made as string).length === payload.size)).toBe(
        true,
      );
      expect((await beside.text()) === text).toBe(true);

      await publish('Later', { count: 2, size: 10 }, { 'X-Correlation-ID': headers['X-Correlation-ID'] });
      const again = await publish('Wanted', payload, headers);
      expect(again.headers.get('x-idempotency-replayed')).toBe('true');
      expect((await again.text()) === text).toBe(true);
      expect(
        await items(`correlation_id=${headers['X-Correlation-ID']}&type=Large&limit=500&offset=${payload.count}`),
      ).toHaveLength(2);
    },
  );

  it('keeps no large artifact twice', async () => {
    await (await publish('Wanted', { count: 20, size: MIB }, { 'X-Idempotency-Key': 'kept-once' })).text();
    const [row] = await board.app.database.rows<{ bytes: number }>(
      "select coalesce(octet_length(response), 0) + coalesce(octet_length(pieces), 0) as bytes from idempotency_keys where key = 'kept-once'",
    );
    expect(row!.bytes).toBeLessThan(2_000);
  });

  it('waits for memory, because the request has had its effect', async () => {
    const taken = memory().reserve(memory().largestBytes - 4 * MIB);
    const answers = await Promise.all(
      Array.from(
        { length: 6 },
        async () => (await publish('Wanted', { count: 3, size: MIB })).json() as Promise<SyncAnswer>,
      ),
    );
    expect(answers.map(({ artifacts }) => artifacts.length)).toEqual(Array(6).fill(3));
    taken.release();
  });
});

it('a workflow with many results returns all of them, by its run and by its key', async () => {
  const run = async (): Promise<Response> =>
    fetch(`${board.app.url}/run/flock`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Idempotency-Key': 'one-run' },
      body: JSON.stringify({ agent_name: 'many', inputs: { count: 20, size: MIB } }),
    });
  const first = await (await run()).text();
  const { run_id, result } = JSON.parse(first) as { run_id: string; result: { Large: { n: number }[] } };
  expect(result.Large.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect((await (await run()).text()) === first).toBe(true);
  expect((await (await fetch(`${board.app.url}/run/${run_id}`)).text()) === first).toBe(true);
});

it('an execution shows all its outputs', async () => {
  const { artifacts } = await board.publishSync('Wanted', { count: 20, size: MIB / 2 });
  const [row] = await board.app.database.rows<{ execution_id: string }>(
    `select execution_id from artifacts where id = '${artifacts[0]!.id}'`,
  );
  const { body } = await board.http.get(`/api/v1/executions/${row!.execution_id}`).expect(200);
  expect((body as { outputs: unknown[]; inputs: unknown[]; errors: unknown[] }).outputs).toEqual(artifacts);
  const direct = await board.http
    .post('/api/v1/agents/many/run')
    .send({ inputs: [{ type: 'Wanted', payload: { count: 5, size: MIB } }] })
    .expect(200);
  expect((direct.body as { artifacts: unknown[] }).artifacts).toHaveLength(5);
});

it('a tool of MCP returns no more than a model reads, and says how to get the rest', async () => {
  const call = async (
    name: string,
    given: object,
  ): Promise<{ content: { text: string }[]; structuredContent?: Record<string, unknown>; isError?: boolean }> => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { body } = await board.http.post('/mcp').send(message).expect(200);
    return (body as { result: Awaited<ReturnType<typeof call>> }).result;
  };
  const listed = await call('list_artifacts', { correlation_id: 'page' });
  expect([listed.isError, listed.content[0]!.text]).toEqual([
    true,
    expect.stringMatching(/larger than 1 MiB; use a smaller limit and page with after/),
  ]);
  const published = await call('publish_Wanted', { payload: { count: 3, size: MIB }, correlation_id: 'by-tool' });
  expect([published.isError, published.structuredContent, published.content[1]!.text]).toEqual([
    undefined,
    { correlation_id: 'by-tool' },
    expect.stringContaining('list_artifacts'),
  ]);
  const small = await call('list_artifacts', { correlation_id: 'by-tool', type: ['Wanted'] });
  expect((small.structuredContent as { items: unknown[] }).items).toHaveLength(1);
});

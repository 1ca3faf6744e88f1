// Uses the application over HTTP, in this process: the memory of requests while their clients wait.
import type { IncomingMessage } from 'node:http';

import { MemoryBudget } from '../../src/common/memory-budget.js';
import { eventually } from '../support/eventually.js';
import { usedMemory } from '../support/heap.js';
import { Board } from './board.js';

const MIB = 1_024 * 1_024;

const CONFIG = `
agents:
  approver:
    consumes: [{ types: [Invoice] }]
    publishes: [{ type: Approval }]
    timeout: 1h
    engine: { kind: external }
`;

/** 20 MiB of memory once it is parsed. */
const EMPTY_OBJECTS = `[${'{},'.repeat(330_000)}{}]`;
const WAITING = 6;

/** The memory of waiting requests beside their bodies. */
const KIB_OF_EACH = { least: 24, most: 32 };

/** Returns whether `least` to `most` more requests wait than when `before` bytes were in use, without their bodies. */
function holdNoBodies(most: number, before: number, least = most): boolean {
  const kib = (budget.usedBytes - before) / 1_024;
  return kib >= least * KIB_OF_EACH.least && kib <= most * KIB_OF_EACH.most;
}

let board: Board;
let budget: MemoryBudget;
beforeAll(async () => {
  board = await Board.start(CONFIG, { settings: { shutdownGraceMs: 0, memoryBudgetBytes: 64 * MIB } });
  budget = board.app.app.get(MemoryBudget, { strict: false });
});
afterAll(() => board.close());

const clients: AbortController[] = [];
afterEach(() => clients.splice(0).forEach((client) => client.abort()));

/** Sends a request whose answer is ignored until the end of the test. */
function send(path: string, text: string, headers: Record<string, string> = {}): void {
  const client = new AbortController();
  clients.push(client);
  fetch(`${board.app.url}${path}`, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
    signal: client.signal,
  }).catch(() => undefined);
}

const waitingExecutions = async (): Promise<number> => {
  const { body } = await board.http.get('/api/v1/executions').query({ state: 'pending', limit: 500 }).expect(200);
  return (body as { items: unknown[] }).items.length;
};

const payload = `{"items":${EMPTY_OBJECTS}}`;
const tool = (name: string, given: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;

it.each([
  ['a synchronous publish', '/api/v1/artifacts/sync', `{"type":"Invoice","timeout":300,"payload":${payload}}`],
  ['a run', '/run/flock', `{"agent_name":"approver","inputs":${payload}}`],
  ['a direct run', '/api/v1/agents/approver/run', `{"inputs":[{"type":"Invoice","payload":${payload}}]}`],
  ['a publish over MCP', '/mcp', tool('publish_Invoice', `{"timeout":300,"payload":${payload}}`)],
  ['a run over MCP', '/mcp', tool('run_approver', `{"timeout":300,"inputs":${payload}}`)],
  [
    'a publish over MCP with a key',
    '/mcp',
    tool('publish_Invoice', `{"timeout":300,"payload":${payload},"idempotency_key":"KEY"}`),
  ],
])('%s that waits keeps nothing of its body', async (name, path, text) => {
  const begin = async (key: string): Promise<void> => {
    const before = await waitingExecutions();
    send(path, text.replace('KEY', key), { 'x-idempotency-key': `${name.replaceAll(' ', '-')}-${key}` });
    await eventually('it waits', async () => (await waitingExecutions()) > before);
  };
  await begin('first');
  const before = usedMemory();
  const reserved = budget.usedBytes;
  for (let n = 0; n < WAITING; n++) await begin(String(n));
  expect(holdNoBodies(WAITING, reserved)).toBe(true);
  // If they were kept, these would take 120 MiB.
  expect(usedMemory() - before).toBeLessThan(20 * MIB);
});

it('a claim that waits keeps nothing of its body', async () => {
  const arrived: IncomingMessage[] = [];
  const reserved = budget.usedBytes;
  board.app.app.getHttpServer().on('request', (request: IncomingMessage) => arrived.push(request));
  for (let n = 0; n < WAITING; n++)
    send(
      '/api/v1/executions/claim',
      `{"agents":["approver"],"assignee":"nobody-${n}","wait":60${' '.repeat(900_000)}}`,
    );
  await eventually(
    'all bodies have arrived and are free',
    () => arrived.length === WAITING && arrived.every(({ complete }) => complete) && holdNoBodies(WAITING, reserved),
  );
  clients.splice(0).forEach((client) => client.abort());
  await eventually('all memory is free', () => budget.usedBytes === reserved);
});

describe('a second request with the same idempotency key', () => {
  const publish = (n: number, text: string) =>
    fetch(`${board.app.url}/api/v1/artifacts/sync`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json', 'x-idempotency-key': `twice-${n}` },
    });

  it.each([
    ['small', 1, `{"type":"Invoice","timeout":1,"payload":{}}`],
    [
      'large, and keeps nothing of its body',
      2,
      `{"type":"Invoice","timeout":1,"payload":{"items":${EMPTY_OBJECTS.slice(0, 60_001)}{}]}}`,
    ],
  ])('waits if it is %s', async (_name, n, text) => {
    const before = await waitingExecutions();
    const first = publish(n, text);
    await eventually('the first waits', async () => (await waitingExecutions()) > before);
    const second = await publish(n, text);
    const [one, other] = [await (await first).text(), await second.text()];
    expect([second.status, second.headers.get('x-idempotency-replayed'), other]).toEqual([200, 'true', one]);
  });

  it.each([
    ['over REST', '/api/v1/artifacts/sync', `{"type":"Invoice","timeout":300,"payload":${payload}}`],
    ['over MCP', '/mcp', tool('publish_Invoice', `{"timeout":300,"payload":${payload},"idempotency_key":"large"}`)],
  ])('keeps nothing of a large body %s while it waits', async (name, path, text) => {
    const key = { 'x-idempotency-key': `large ${name}`.replaceAll(' ', '-') };
    const before = await waitingExecutions();
    const reserved = budget.usedBytes;
    send(path, text, key);
    await eventually('the first waits', async () => (await waitingExecutions()) > before && holdNoBodies(1, reserved));
    const arrived: IncomingMessage[] = [];
    board.app.app.getHttpServer().on('request', (request: IncomingMessage) => arrived.push(request));
    const used = usedMemory();
    for (let n = 0; n < WAITING; n++) send(path, text, key);
    // Some are refused, because their bodies do not fit together.
    await eventually(
      'all have arrived, and hold no memory',
      () =>
        arrived.filter(({ url, complete }) => url === path && complete).length === WAITING &&
        holdNoBodies(1 + WAITING, reserved, 1),
    );
    expect(await waitingExecutions()).toBe(before + 1);
    // If they were kept, these would take 120 MiB.
    expect(usedMemory() - used).toBeLessThan(20 * MIB);
  });
});

describe('with memory for 20 requests that wait', () => {
  let small: Board;
  beforeAll(
    async () => void (small = await Board.start(CONFIG, { settings: { shutdownGraceMs: 0, memoryBudgetBytes: MIB } })),
  );
  afterAll(() => small.close());

  it('more waiting requests are refused with 503 and store nothing, and requests that do not wait are served', async () => {
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      small.http.post(path).set(headers).send(body);
    const claim = { agents: ['approver'], assignee: 'nobody', wait: 60 };
    const gone = new AbortController();
    const claimed = Array.from({ length: 30 }, async () => {
      const answer = await fetch(`${small.app.url}/api/v1/executions/claim`, {
        method: 'POST',
        body: JSON.stringify(claim),
        headers: { 'content-type': 'application/json' },
        signal: gone.signal,
      });
      return [answer.status, answer.headers.get('retry-after'), await answer.json()];
    });
    const refusal = { detail: 'The service has no memory for more waiting requests now; try again' };
    expect(await Promise.race(claimed)).toEqual([503, '1', refusal]);
    const publish = { type: 'Invoice', timeout: 300, payload: {} };
    const run = { agent_name: 'approver', inputs: {} };
    const answers = [
      await post('/api/v1/artifacts/sync', publish),
      await post('/api/v1/artifacts/sync', publish, { 'x-idempotency-key': 'refused' }),
      await post('/run/flock', run),
      await post('/api/v1/agents/approver/run', { inputs: [{ type: 'Invoice', payload: {} }] }),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [503, refusal]));
    expect((await small.http.get('/api/v1/executions')).body).toMatchObject({ items: [] });
    await post('/run/flock', { ...run, async_run: true }).expect(200);
    await post('/api/v1/executions/claim', { agents: ['approver'] }).expect(200);
    gone.abort();
    await Promise.allSettled(claimed);
    await eventually(
      'there is memory again',
      async () => (await post('/api/v1/executions/claim', { ...claim, wait: 1 })).status === 200,
    );
  });
});

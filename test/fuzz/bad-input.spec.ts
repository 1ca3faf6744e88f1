// Uses the whole application on a database, over HTTP. The clock runs fast, so that timeouts of five minutes pass
// quickly.
import fc from 'fast-check';

import { startApp, type TestApp } from '../support/app.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { FastClock, UNHURRIED_TRANSFERS } from '../support/fast-clock.js';
import { printedSeed } from '../support/random.js';
import { AGENT_FILES, AGENTS, Shouter } from './agents.js';
import { AnswerCheck } from './answers.js';
import { BODY_LIMIT } from './bodies.js';
import type { ApiDocument } from './document.js';
import { Ledger, storedIn } from './ledger.js';
import { type FuzzRequest, inWords, requestsOf } from './requests.js';
import { type Answer, Client } from './send.js';

const REQUESTS = Number(process.env.STARLING_FUZZ_REQUESTS ?? 1_000);
const ROUND = 1_000;
/** The ledger expects every key. The default, one day, passes within 90 s on this clock. */
const MOST_RETENTION_MS = 30 * 86_400_000;
const JSON_BODY = { 'Content-Type': 'application/json' };

let app: TestApp;
let client: Client;
const ledger = new Ledger();

beforeAll(async () => {
  // The files of the documentation pages.
  await builtProgram();
  app = await startApp({
    config: AGENTS,
    files: AGENT_FILES,
    agents: [Shouter],
    clock: new FastClock(1_000),
    settings: {
      ...UNHURRIED_TRANSFERS,
      bodyLimitBytes: BODY_LIMIT,
      leaseMs: 3_600_000,
      retainKeysMs: MOST_RETENTION_MS,
      logLevel: 'warn',
    },
  });
  client = new Client(app.url);
});
afterAll(async () => {
  client.close();
  await app.close();
});

const get = async <T>(path: string): Promise<T> =>
  JSON.parse((await client.send({ method: 'GET', target: path, headers: {}, body: null })).text) as T;

/** The existing rows, by the names of the fields that refer to them. */
async function knownValues() {
  const types = (await get<{ artifact_types: { name: string }[] }>('/api/v1/artifact-types')).artifact_types.map(
    ({ name }) => name,
  );
  const agents = (await get<{ agents: { name: string }[] }>('/api/v1/agents')).agents.map(({ name }) => name);
  for (const type of types) await publish(type);
  const { items } = await get<{ items: { id: string }[] }>('/api/v1/artifacts');
  const ids = items.map(({ id }) => id);
  const correlations = ['order-1', 'order-2', 'order-3'];
  return {
    type: types,
    payload: [
      { text: 'hello', n: 1, key: 'a' },
      { text: 'x', n: -2, key: null },
    ],
    inputs: types.map((type) => [{ type, payload: { text: 'hello', n: 1, key: 'a' } }]),
    agent_name: agents,
    agent_id: agents,
    execution_id: (await get<{ items: { id: string }[] }>('/api/v1/executions')).items.map(({ id }) => id),
    produced_by: [...agents, 'external'],
    artifact_id: ids,
    after: ids,
    correlation_id: correlations,
    'X-Correlation-ID': correlations,
    'X-Idempotency-Key': ['key-1', 'key-2', 'key-3', 'key-4'],
    file: ['swagger-ui.css', 'start-redoc.js'],
  };
}

async function publish(type: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ type, payload: { text: 'hello', n: 1, key: 'a' } }));
  const request = { method: 'POST', target: '/api/v1/artifacts', headers: JSON_BODY, body, route: null };
  ledger.enter(request, await client.send(request));
}

/**
 * Some requests pause agents, and others wait for these: the test resumes them repeatedly, until all have been
 * answered.
 */
async function resumingAll(answered: Promise<unknown>): Promise<void> {
  let isOver = false;
  void answered.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    await resumeAll();
    await Promise.race([answered, pause()]);
  }
  await answered;
  await resumeAll();
}

async function resumeAll(): Promise<void> {
  const { agents } = await get<{ agents: { name: string; paused: boolean }[] }>('/api/v1/agents');
  for (const { name, paused } of agents) {
    if (paused)
      await client.send({
        method: 'POST',
        target: `/api/v1/agents/${encodeURIComponent(name)}/resume`,
        headers: JSON_BODY,
        body: Buffer.from('{}'),
      });
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** Checks that the service answers, its agents work, and no unexpected error has happened. */
async function expectHealthy(): Promise<void> {
  expect(await get('/health')).toMatchObject({ status: 'ok' });
  const body = Buffer.from(JSON.stringify({ type: 'Whisper', payload: { text: 'still there' } }));
  // On this clock a synchronous publish would wait for some milliseconds.
  const { headers } = await client.send({ method: 'POST', target: '/api/v1/artifacts', headers: JSON_BODY, body });
  const correlation = headers['x-correlation-id'] as string;
  await eventually('the agents have reacted', async () => {
    const { state } = await get<{ state: string }>(`/api/v1/correlations/${correlation}/status`);
    return state === 'completed';
  });
  expect(await get(`/api/v1/artifacts?correlation_id=${correlation}`)).toMatchObject({
    items: [{ type: 'Whisper' }, { payload: { text: 'STILL THERE' } }, { type: 'Routing' }],
  });
  expect(app.logLines.filter(({ level }) => (level as number) >= 50)).toEqual([]);
}

it(`${REQUESTS} requests of every kind are answered as documented, and refused ones store nothing`, async () => {
  const document = await get<ApiDocument>('/openapi.json');
  const check = new AnswerCheck(document);
  const statuses: Record<string, number> = {};
  const problems: string[] = [];
  const judge = (request: FuzzRequest, answer: Answer): void => {
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const found = check.problemsOf(answer, request);
    problems.push(
      ...found.map((problem) => `${problem}: ${inWords(request)} → ${answer.status} ${answer.text.slice(0, 500)}`),
    );
    ledger.enter(request, answer);
  };
  const ask = (request: FuzzRequest): Promise<void> =>
    client.send(request).then(
      (answer) => judge(request, answer),
      (error: Error) => void problems.push(`${error.message}: ${inWords(request)}`),
    );
  const requests = fc.sample(requestsOf(document, await knownValues()), { seed: printedSeed(), numRuns: REQUESTS });
  for (let sent = 0; sent < REQUESTS; sent += ROUND) {
    await resumingAll(Promise.all(requests.slice(sent, sent + ROUND).map(ask)));
    expect(problems.slice(0, 5)).toEqual([]);
    expect(await storedIn(app.database)).toEqual(ledger.holdings);
  }
  console.log(`answers by status: ${JSON.stringify(statuses)}`);
  await expectHealthy();
}, 300_000);

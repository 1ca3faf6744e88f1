import { readFileSync, rmSync } from 'node:fs';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
agents:
  slow:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: function, module: ./slow.js }
`;

// Writes which process runs it, and answers when a file with the number of that process exists.
const SLOW = `import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const at = (name) => new URL('./' + name, import.meta.url);
export default async (inputs, { attempt, signal }) => {
  appendFileSync(at('invocations'), process.pid + '\\n');
  while (!existsSync(at('open-' + process.pid))) await delay(10, undefined, { signal });
  return { by: process.pid, attempt };
};`;

/** Runs two services as processes on one Postgres database, HTTP, SIGSTOP and SIGCONT. */
describe('a process that was stopped for longer than its lease', () => {
  const folder = new ConfigurationFolder();
  const services: Service[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    await builtProgram();
    folder.write('slow.js', SLOW);
    database = await databaseOf(folder.path);
    const args = ['--config', folder.write('starling.yaml', CONFIG), '--database-url', database.url, '--lease', '5s'];
    services.push(await Service.start(args), await Service.start(args));
  });

  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await database?.drop();
    folder.remove();
  });

  beforeEach(() => folder.write('invocations', ''));

  const invocations = (): number[] =>
    readFileSync(`${folder.path}/invocations`, 'utf8').trim().split('\n').filter(Boolean).map(Number);
  const byPid = (pid: number): Service => services.find(({ process }) => process.pid === pid)!;
  const answers = async (service: Service): Promise<object[]> =>
    (await service.get<{ items: { payload: object }[] }>('/api/v1/artifacts?type=Answer')).items.map(
      ({ payload }) => payload,
    );

  it('commits no execution that was taken over from it', async () => {
    await fetch(`${services[0]!.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': 'question' },
      body: JSON.stringify({ type: 'Question', payload: {} }),
    });
    await eventually('one process runs it', () => invocations().length === 1);
    const stopped = byPid(invocations()[0]!);
    stopped.process.kill('SIGSTOP');
    await eventually('another process has taken it over', () => invocations().length === 2);
    const other = byPid(invocations()[1]!);
    expect(other).not.toBe(stopped);

    // It continues with its answer ready, while the other one still runs.
    folder.write(`open-${stopped.process.pid}`, '');
    stopped.process.kill('SIGCONT');
    await eventually('its outcome is discarded', () =>
      stopped.log.some((line) => line.includes('"outcome":"discarded"')),
    );
    expect(await answers(other)).toEqual([]);

    folder.write(`open-${other.process.pid}`, '');
    const taken = [{ by: other.process.pid, attempt: 1 }];
    await eventually('the other one has answered', async () => (await answers(stopped)).length > 0);
    expect(await answers(stopped)).toEqual(taken);
    expect(await stopped.get('/api/v1/correlations/question/status')).toMatchObject({
      state: 'completed',
      artifact_count: 2,
    });
    expect(invocations()).toHaveLength(2);
  });

  it('answers an idempotency key with the answer of the process that took it over', async () => {
    services.forEach(({ process }) => rmSync(`${folder.path}/open-${process.pid}`));
    const ask = async (service: Service): Promise<string> => {
      const response = await fetch(`${service.url}/api/v1/artifacts/sync`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-idempotency-key': 'question-2' },
        body: JSON.stringify({ type: 'Question', payload: {} }),
      });
      expect(response.status).toBe(200);
      return response.text();
    };
    const [stopped, other] = services as [Service, Service];
    const late = ask(stopped);
    await eventually('it runs', () => invocations().length === 1);
    const owner = async (): Promise<unknown> =>
      (await database.rows<{ owner: string }>('select owner from idempotency_keys'))[0]!.owner;
    const first = await owner();
    stopped.process.kill('SIGSTOP');
    const asked = ask(other);
    await eventually('the other one runs it', () => invocations().at(-1) === other.process.pid);
    await eventually('the key is taken over', async () => (await owner()) !== first);
    folder.write(`open-${other.process.pid}`, '');
    const answer = await asked;
    stopped.process.kill('SIGCONT');
    // The answer contains the duration: the two would differ.
    expect(await late).toBe(answer);
    expect(JSON.parse(answer)).toMatchObject({ completed: true, artifacts: [{ payload: { by: other.process.pid } }] });
  });
});

// Runs `starling replay` against the built server.
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Clients, ID } from './clients.js';
import { Folder } from './run-program.js';
import { StartedProgram } from './started-program.js';

const CONFIG = `
agents:
  printer: { consumes: [{ types: [Job] }], publishes: [{ type: Print }], retry: { attempts: 1 }, engine: { kind: function, module: ./printer.mjs } }
  approver: { consumes: [{ types: [Form] }], publishes: [{ type: Approval }], engine: { kind: external } }
`;
/** Works until the paper is gone. */
const PRINTER = `
import { existsSync } from 'node:fs';
export default async ([{ payload }]) => {
  if (existsSync(new URL('no-paper', import.meta.url))) throw new Error('there is no paper');
  return { text: payload.text };
};`;

const folder = new Folder();
let service: Service;
let clients: Clients;

const post = async <T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> => {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};

beforeAll(async () => {
  await builtProgram();
  folder.write('printer.mjs', PRINTER);
  const config = folder.write('starling.yaml', CONFIG);
  service = await Service.start(['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`]);
  clients = new Clients(service);
  for (const text of ['one', 'two']) {
    const job = { type: 'Job', payload: { text } };
    await post('/api/v1/artifacts/sync', job, { 'X-Correlation-ID': 'jobs' });
  }
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

interface Replay {
  correlation_id: string;
}

const oneLine = (line: RegExp): object => ({ code: 1, stdout: '', stderr: expect.stringMatching(line) as string });
const artifact = async (type: string): Promise<string> => {
  const { items } = await service.get<{ items: [{ id: string }] }>(
    `/api/v1/artifacts?type=${type}&correlation_id=jobs&order=asc`,
  );
  return items[0].id;
};
const stateOf = async (correlation: string): Promise<string> =>
  (await service.get<{ state: string }>(`/api/v1/correlations/${correlation}/status`)).state;

test('says in one line what is wrong, and replays nothing', async () => {
  expect(await clients.run('replay', 'jobs')).toEqual(oneLine(/^error: required option '--mode <mode>' .*\n/));
  expect(await clients.run('replay', 'jobs', '--mode', 'dry')).toEqual(
    oneLine(/^--mode: must be one of full, recorded, shadow[^\n]*\n$/),
  );
  expect(await clients.run('replay', 'jobs', '--mode', 'full', '--configuration', 'candidate')).toEqual(
    oneLine(/^--configuration: the operator gave no configuration for replays \(setting replay_config\)[^\n]*\n$/),
  );
  expect(await clients.run('replay', 'jbos', '--mode', 'full')).toEqual(
    oneLine(/^unknown correlation or artifact: jbos; did you mean jobs\?\n$/),
  );
  expect(await clients.run('replay', await artifact('Print'), '--mode', 'full')).toEqual(
    oneLine(/^Artifact \S+ was published by printer; replay its correlation jobs, or an artifact of a client\n$/),
  );
  const { items } = await service.get<{ items: object[] }>('/api/v1/correlations?replay=true');
  expect(items).toMatchObject([{ correlation_id: 'jobs' }]);
});

test('prints what began, in a pipe as the answer of the API', async () => {
  const { code, stdout, stderr } = await clients.runAlone('replay', 'jobs', '--mode', 'full');
  expect([code, stderr]).toEqual([0, '']);
  const begun = JSON.parse(stdout) as Replay;
  expect(begun).toEqual({ correlation_id: ID, origin: 'jobs', mode: 'full', published: 2 });
  await eventually('it has ended', async () => (await stateOf(begun.correlation_id)) === 'completed');
  expect(await clients.json('compare', 'jobs', begun.correlation_id)).toMatchObject({ paired: 4, only_right: 0 });
});

test('prints fields and the command that compares on a terminal', async () => {
  const lines = await clients.onTerminal(120, ['replay', await artifact('Job'), '--mode', 'recorded']);
  expect(lines).toEqual([
    expect.stringMatching(/^correlation {2}[0-9a-f-]{36}$/),
    'origin       jobs',
    'mode         recorded',
    'published    1',
    `compare      npx starling compare jobs ${lines[0]!.slice(-36)} --url ${service.url}`,
  ]);
});

test('--wait prints the status when the cascade has ended', async () => {
  const { code, stdout, stderr } = await clients.run('replay', 'jobs', '--mode', 'recorded', '--wait');
  const status = JSON.parse(stdout) as Replay;
  expect(status).toMatchObject({ origin: 'jobs', replay_mode: 'recorded', state: 'completed', artifact_count: 4 });
  expect({ code, stderr }).toEqual({ code: 0, stderr: `Replay ${status.correlation_id}\n` });
  const lines = await clients.onTerminal(120, ['replay', 'jobs', '--mode', 'full', '--wait']);
  expect(lines).toEqual(expect.arrayContaining(['state        completed', 'artifacts    4', 'errors       0']));
});

test('--wait ends with 1 if the cascade did not complete', async () => {
  folder.write('no-paper', '');
  const { code, stdout } = await clients.run('replay', 'jobs', '--mode', 'full', '--wait');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'failed', error_count: 2 });
  // The paper is in the record.
  const shadow = await clients.run('replay', 'jobs', '--mode', 'shadow', '--wait');
  expect([shadow.code, JSON.parse(shadow.stdout)]).toMatchObject([0, { replay_mode: 'shadow', artifact_count: 4 }]);
});

test('a trace proposes no retry of a failure that a shadow replay took from the record', async () => {
  folder.write('no-paper', '');
  await post('/api/v1/artifacts/sync', { type: 'Job', payload: {} }, { 'X-Correlation-ID': 'failed-job' });
  const traced = async (id: string): Promise<string> => (await clients.onTerminal(200, ['trace', id])).join('\n');
  expect(await traced('failed-job')).toContain('To run a failed execution again');
  for (const [mode, proposes] of [
    ['recorded', true],
    ['shadow', false],
  ] as const) {
    const { stdout } = await clients.run('replay', 'failed-job', '--mode', mode, '--wait');
    const text = await traced((JSON.parse(stdout) as Replay).correlation_id);
    expect(text).toContain('there is no paper');
    expect(text.includes('To run a failed execution again')).toBe(proposes);
  }
});

test('a trace says why a branch of a shadow replay ended', async () => {
  await post('/api/v1/artifacts', { type: 'Form', payload: {} }, { 'X-Correlation-ID': 'form-in-shadow' });
  await post('/api/v1/correlations/form-in-shadow/cancel', {});
  const { code, stdout } = await clients.run('replay', 'form-in-shadow', '--mode', 'shadow', '--wait');
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { state: 'failed', error_count: 1 }]);
  const lines = await clients.onTerminal(200, ['trace', (JSON.parse(stdout) as Replay).correlation_id]);
  const text = lines.join('\n');
  expect(text).toContain('shadow: approver does not run in a shadow replay, because it is an external agent');
  expect(text).not.toContain('To run a failed execution again');
});

test('Ctrl-C stops waiting, and says how to see the replay', async () => {
  await post('/api/v1/artifacts', { type: 'Form', payload: {} }, { 'X-Correlation-ID': 'form' });
  await post('/api/v1/correlations/form/cancel', {});
  const args = ['replay', 'form', '--mode', 'full', '--wait'];
  const program = await StartedProgram.start(args, { STARLING_URL: service.url });
  await eventually('the id is printed', () => program.stderr.includes('\n'));
  const [, id] = /^Replay (\S+)\n$/.exec(program.stderr)!;
  program.process.kill('SIGINT');
  expect(await program.ended).toBe(130);
  expect(program.stderr.split('\n')[1]).toBe(
    `The replay continues. To see it: npx starling trace ${id} --url ${service.url}`,
  );
  expect(program.stdout).toBe('');
  expect(await stateOf(id!)).toBe('active');
});

// Runs `starling retry` and `starling cancel` against the built server.
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
/** Works as soon as there is paper. */
const PRINTER = `
import { existsSync } from 'node:fs';
export default async ([{ payload }]) => {
  if (!existsSync(new URL('paper', import.meta.url))) throw new Error('there is no paper');
  return { text: payload.text };
};`;

const folder = new Folder();
let service: Service;
let clients: Clients;

beforeAll(async () => {
  await builtProgram();
  folder.write('printer.mjs', PRINTER);
  const config = folder.write('starling.yaml', CONFIG);
  service = await Service.start(['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`]);
  clients = new Clients(service);
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

async function publish(type: string, correlation: string, times = 1): Promise<void> {
  for (let number = 0; number < times; number++) {
    const { status } = await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': correlation },
      body: JSON.stringify({ type, payload: { text: `page ${number}` } }),
    });
    expect(status).toBe(200);
  }
}

const executions = async (query: string): Promise<{ id: string }[]> =>
  (await service.get<{ items: { id: string }[] }>(`/api/v1/executions?${query}`)).items;
const stateOf = async (correlation: string): Promise<string> =>
  (await service.get<{ state: string }>(`/api/v1/correlations/${correlation}/status`)).state;
const oneLine = (line: RegExp): object => ({ code: 1, stdout: '', stderr: expect.stringMatching(line) as string });

describe('starling retry', () => {
  beforeAll(async () => {
    await publish('Job', 'jobs', 3);
    await eventually('three jobs failed', async () => (await executions('state=failed')).length === 3);
  });

  test('says in one line what is wrong', async () => {
    expect(await clients.run('retry')).toEqual(
      oneLine(/^give the id of a failed execution, or a filter such as --agent or --failure-group\n$/),
    );
    expect(await clients.run('retry', 'e1', '--agent', 'printer')).toEqual(oneLine(/^give the id .* not both;.*\n$/));
    expect(await clients.run('retry', 'e1')).toEqual(oneLine(/^unknown execution: e1; npx starling executions .*\n$/));
    expect(await clients.run('retry', '--agent', 'prinrer')).toEqual(
      oneLine(/^--agent: unknown agent prinrer; did you mean printer\?\n$/),
    );
    expect(await clients.run('retry', '--agent', 'printer', '--from', 'noon')).toEqual(
      oneLine(/^--from: is not a time; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24\n$/),
    );
  });

  test('--dry-run counts', async () => {
    expect(await clients.json('retry', '--agent', 'printer', '--dry-run')).toEqual({ matched: 3 });
    expect(await clients.onTerminal(80, ['retry', '--correlation-id', 'others', '--dry-run'])).toEqual([
      'would retry  0',
    ]);
    expect(await executions('state=failed')).toHaveLength(3);
  });

  test('runs one again, then all that match', async () => {
    folder.write('paper', '');
    const [{ id }] = (await executions('state=failed')) as [{ id: string }];
    expect(await clients.json('retry', id)).toMatchObject({ id, agent: 'printer' });
    await eventually('it has completed', async () => (await executions('state=completed')).length === 1);
    expect(await clients.run('retry', id)).toEqual(oneLine(/^[^\n]*completed[^\n]*\n$/));
    const operation = await clients.run(
      'retry',
      '--agent',
      'printer',
      '--error-type',
      'Error',
      '--correlation-id',
      'jobs',
    );
    expect(JSON.parse(operation.stdout)).toMatchObject({ operation_id: ID, state: 'completed', matched: 2, done: 2 });
    expect(operation.code).toBe(0);
    await eventually('all have completed', async () => (await executions('state=completed')).length === 3);
  });
});

describe('starling cancel', () => {
  test('cancels a correlation', async () => {
    await publish('Form', 'few');
    await eventually('the form waits', async () => (await executions('external=true')).length === 1);
    expect(await clients.onTerminal(80, ['cancel', 'few'])).toEqual([
      'correlation  few',
      'state        cancelled',
      'artifacts    1',
    ]);
    expect(await stateOf('few')).toBe('cancelled');
    expect(await clients.run('cancel', 'few')).toEqual(oneLine(/^Correlation few has already ended .*\n$/));
    expect(await clients.run('cancel', 'fwe')).toEqual(
      oneLine(/^unknown correlation, run or batch: fwe; did you mean few\?\n$/),
    );
  });

  test('asks if much has not ended, and without a terminal wants --yes', async () => {
    await publish('Form', 'many', 11);
    await eventually('the forms wait', async () => (await executions('external=true')).length === 11);
    expect(await clients.run('cancel', 'many')).toEqual(
      oneLine(
        /^Cancel the correlation many, .* 11 .*\? This is not a terminal, so nothing was asked; add --yes to do it\n$/,
      ),
    );
    const asked = await StartedProgram.onTerminal(120, ['cancel', 'many'], { STARLING_URL: service.url });
    await eventually('the question', () => asked.stdout.includes('[y/N]'));
    asked.process.stdin!.write('n\n');
    expect(await asked.ended).toBe(1);
    expect(asked.stdout).toContain('nothing was cancelled');
    expect(await stateOf('many')).toBe('active');
    expect(await clients.json('cancel', 'many', '--yes')).toMatchObject({ correlation_id: 'many', state: 'cancelled' });
  });

  test('cancels a batch, and refuses one that has ended', async () => {
    const csv = folder.write('rows.csv', 'text\na\nb\n');
    const printed = await clients.run('batch', 'run', csv, '--agent', 'printer');
    const id = /Batch ([0-9a-f-]{36})/.exec(printed.stderr)![1]!;
    expect(await clients.run('cancel', id)).toEqual(oneLine(/^[^\n]*completed[^\n]*\n$/));
  });
});

// Runs `starling limit` and `starling schedule` against the built server.
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Clients } from './clients.js';
import { Folder } from './run-program.js';

const CONFIG = `
types: { ReportDue: {} }
limits:
  desks: { concurrency: 1, rate: 60/m, burst: 10 }
agents:
  clerk: { consumes: [{ types: [Letter] }], publishes: [{ type: Answer }], limits: [desks], timeout: 1h, engine: { kind: external } }
schedules:
  daily: { cron: 0 7 * * *, time_zone: Europe/Berlin, publishes: { type: ReportDue } }
  over: { at: 2020-06-30T18:00Z, publishes: { type: ReportDue } }
`;

const folder = new Folder();
let service: Service;
let clients: Clients;

beforeAll(async () => {
  await builtProgram();
  const config = folder.write('starling.yaml', CONFIG);
  service = await Service.start(['--config', config, '--database-url', `sqlite:${join(folder.path, 'a.db')}`]);
  clients = new Clients(service);
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

const post = async (path: string, body: object): Promise<void> => {
  const headers = { 'Content-Type': 'application/json' };
  const { status } = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(status).toBe(200);
};

const refused = (message: string): object => ({ code: 1, stdout: '', stderr: `${message}\n` });

test('starling waiting without a correlation says that limits have another list', async () => {
  expect(await clients.onTerminal(200, ['waiting'])).toEqual([
    'nothing waits for artifacts, for people or for a process; starling limit list shows what waits for limits',
  ]);
});

test('starling limit lists what is used, changes only what is given, and resets it', async () => {
  for (const n of [1, 2]) await post('/api/v1/artifacts', { type: 'Letter', payload: { n } });
  await post('/api/v1/executions/claim', { agents: ['clerk'], max: 2 });
  await eventually(
    'one waits',
    async () => (await service.get<{ waiting: number }>('/api/v1/limits/desks')).waiting === 1,
  );
  expect(await clients.list('limit', 'list')).toMatchObject([
    { name: 'desks', concurrency: 1, rate: '60/m', running: 1, waiting: 1, longest: { agent: 'clerk' } },
  ]);
  const [titles, row] = await clients.onTerminal(120, ['limit', 'list']);
  expect(titles).toMatch(/^LIMIT +CONCURRENCY +RATE +RUNNING +WAITING +LONGEST +FROM$/);
  expect(row).toMatch(/^desks +1 +60\/m +1 +1 +clerk \S+Z +file$/);

  const file = { concurrency: 1, rate: '60/m', burst: 10 };
  expect(await clients.json('limit', 'set', 'desks', '--concurrency', '3')).toMatchObject({ ...file, concurrency: 3 });
  expect(await clients.json('limit', 'set', 'desks', '--burst', '2')).toMatchObject({
    ...file,
    concurrency: 3,
    burst: 2,
  });
  expect(await clients.json('limit', 'set', 'desks', '--rate', 'none')).toMatchObject({ concurrency: 3, rate: null });
  const shown = await clients.onTerminal(80, ['limit', 'set', 'desks', '--concurrency', 'none', '--rate', '5/10s']);
  expect(shown.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'limit desks',
    'concurrency none',
    'rate 5/10s',
    'burst 1',
    'in the file concurrency 1, rate 60/m, burst 10',
    'running 1',
    expect.stringMatching(/^waiting [01]$/),
  ]);
  expect(await clients.json('limit', 'reset', 'desks')).toMatchObject({ ...file, set_at: null });

  expect(await clients.run('limit', 'set', 'desks')).toEqual(refused('give --concurrency, --rate or --burst'));
  expect(await clients.run('limit', 'set', 'desks', '--rate', 'often')).toEqual(
    refused(
      'rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration',
    ),
  );
  expect(await clients.run('limit', 'set', 'desks', '--concurrency', 'few')).toEqual(
    refused('--concurrency: must be a number (got "few")'),
  );
  expect(await clients.run('limit', 'reset', 'desk')).toEqual(refused('Limit not found: desk; did you mean desks?'));
});

test('starling schedule lists, previews and backfills', async () => {
  interface Listed {
    name: string;
    next?: object;
  }
  const [daily, over] = await clients.list<Listed>('schedule', 'list');
  expect([daily, over]).toMatchObject([
    { name: 'daily', next: { local: expect.stringContaining('T07:00') } },
    { name: 'over' },
  ]);
  expect(over!.next).toBeUndefined();
  expect(await clients.list('schedule', 'list', '--limit', '1')).toHaveLength(1);
  const lines = await clients.onTerminal(120, ['schedule', 'list']);
  expect(lines[0]).toMatch(/^SCHEDULE +STATE +FROM +NEXT$/);
  expect(lines[1]).toMatch(/^daily +active +file +\S+T07:00:00\+0[12]:00/);
  expect(lines[2]).toMatch(/^over +ended +file/);

  const ticks = await clients.list<{ scheduled_for: string; local: string }>(
    'schedule',
    'preview',
    'daily',
    '--count',
    '3',
  );
  expect(ticks.map(({ local }) => local.slice(11, 19))).toEqual(['07:00:00', '07:00:00', '07:00:00']);
  expect((await clients.onTerminal(80, ['schedule', 'preview', 'over'])).at(-1)).toBe('over has no further tick');

  const backfill = ['schedule', 'backfill', 'daily', '--from', '2026-07-01', '--to', '2026-07-02'];
  const past = ['2026-07-01T05:00:00.000Z', '2026-07-02T05:00:00.000Z'];
  const wanted = past.map((scheduled_for) => expect.objectContaining({ scheduled_for, version: 1 }) as object);
  expect(await clients.list(...backfill, '--dry-run')).toEqual(wanted);
  expect((await clients.onTerminal(80, [...backfill, '--dry-run'])).at(-1)).toBe('2 ticks would be published');
  expect(await clients.list(...backfill)).toEqual(wanted);
  expect((await clients.onTerminal(80, backfill)).at(-1)).toBe('0 ticks published');
  const published = await service.get<{ items: object[] }>('/api/v1/artifacts?type=ReportDue');
  expect(published.items).toHaveLength(2);

  expect(await clients.run('schedule', 'preview', 'dayly')).toEqual(
    refused('Schedule not found: dayly; did you mean daily?'),
  );
  expect(await clients.run('schedule', 'preview', 'daily', '--count', '0')).toMatchObject(
    refused('count: must be a whole number from 1 to 1000'),
  );
  expect(await clients.run('schedule', 'backfill', 'daily', '--from', '2026-07-01', '--to', '2999-01-01')).toEqual(
    refused('to: must not be in the future'),
  );
});

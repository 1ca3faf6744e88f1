// Runs `starling batch run` and `watch` while answers fail: the built program against the built server behind a proxy
// that cuts connections, and against test servers if the real one cannot fail in time.
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Clients } from './clients.js';
import { describeOnTerminal } from './progress-bar.js';
import { type Ended, Folder, runProgram } from './run-program.js';
import { StartedProgram } from './started-program.js';

const CONFIG = `
types:
  Row: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo: { consumes: [{ types: [Row] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: payload } }
`;

const folder = new Folder();
const listeners: Server[] = [];
let service: Service;
let csv: string;
beforeAll(async () => {
  await builtProgram();
  csv = folder.write('rows.csv', 'n\n1\n2\n');
  service = await Service.start([
    '--config',
    folder.write('starling.yaml', CONFIG),
    '--database-url',
    `sqlite:${join(folder.path, 'a.db')}`,
  ]);
});
afterAll(async () => {
  for (const listener of listeners) listener.close().closeAllConnections();
  await service?.kill();
  folder.remove();
});

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  listeners.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const starling = (...args: string[]): Promise<Ended> => runProgram(args, { env: { STARLING_URL: service.url } });

const listed = async (): Promise<{ batch_id: string; created_at: string }[]> =>
  (await service.get<{ items: { batch_id: string; created_at: string }[] }>('/api/v1/batches')).items;

test('batch list prints JSON lines in a pipe and a table on a terminal, newest first', async () => {
  const clients = new Clients(service);
  expect(await clients.run('batch', 'list')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await clients.onTerminal(120, ['batch', 'list'])).toEqual([
    'no batches yet; start one with npx starling batch run',
  ]);
  expect((await starling('batch', 'run', csv, '--agent', 'echo')).code).toBe(0);
  expect((await starling('batch', 'run', csv, '--agent', 'echo')).code).toBe(0);
  const batches = await listed();
  expect(batches).toHaveLength(2);
  expect(await clients.list('batch', 'list')).toEqual(batches);
  expect(await clients.list('batch', 'list', '--limit', '1')).toEqual(batches.slice(0, 1));
  expect(await clients.onTerminal(120, ['batch', 'list'])).toEqual([
    'BATCH                                 AGENT  STATE      ROWS  FAILED  CREATED',
    ...batches.map(
      ({ batch_id: id, created_at: at }) => `${id}  echo   completed   2/2       0  ${at.replace(/\.\d+Z$/, 'Z')}`,
    ),
  ]);
});

test('a file whose answer is lost is sent again, and makes one batch', async () => {
  const before = (await listed()).length;
  let posts = 0;
  const url = await listening((request, response) => {
    const isLost = request.method === 'POST' && ++posts === 1;
    const onward = httpRequest(
      service.url + request.url!,
      { method: request.method!, headers: request.headers },
      (answer) => {
        if (isLost) return void answer.resume().on('end', () => request.socket.destroy());
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward);
  });
  const { code, stdout, stderr } = await starling('batch', 'run', csv, '--agent', 'echo', '--url', url);
  expect(stdout).toContain(' completed: 2 of 2 rows, 0 failed');
  expect(stderr).toContain('\nThe answer was lost; sending the file again (this does not create a second batch)\n');
  expect({ code, posts, batches: (await listed()).length }).toEqual({ code: 0, posts: 2, batches: before + 1 });
});

test('Ctrl-C while the file is sent says that it may still be imported, and where to check', async () => {
  let isSent = false;
  const url = await listening((request) => void request.resume().on('end', () => (isSent = true)));
  const program = await StartedProgram.start(['batch', 'run', csv, '--agent', 'echo', '--url', url]);
  await eventually('the file is sent', () => isSent);
  program.process.kill('SIGINT');
  expect(await program.ended).toBe(130);
  expect(program.stderr.split('\n').slice(1)).toEqual([
    `Stopped; the server may still import the file; npx starling batch list --url ${url} then shows the batch`,
    '',
  ]);
});

/** Answers for one running batch, whose rows the test sets; null cuts the connection. */
const running = (completed: () => number | null): Promise<string> =>
  listening((request, response) => {
    const done = completed();
    if (done === null) return void request.socket.destroy();
    const status = done === 1_000 ? 'completed' : 'running';
    const counts = { total_items: 1_000, completed_items: done, failed_items: 0, progress_percentage: done / 10 };
    response.end(JSON.stringify({ batch_id: 'b-1', status, ...counts, results: [] }));
  });

describeOnTerminal('the remaining time', () => {
  test('does not include the time that the server was away', async () => {
    let completed: number | null = 0;
    const url = await running(() => completed);
    const program = await StartedProgram.onTerminal(120, ['batch', 'watch', 'b-1', '--url', url]);
    const drawn = (text: string): boolean => program.stdout.includes(text);
    await eventually('it watches', () => drawn('0/1,000 rows'));
    completed = 400;
    await eventually('it shows a rate', () => /400\/1,000 rows, [\d.]+\/s/.test(program.stdout));
    completed = null;
    await eventually('the server is away', () => drawn('retrying for up to'));
    completed = 500;
    await eventually('the server is back', () => drawn('500/1,000 rows'));
    completed = 1_000;
    expect(await program.ended).toBe(0);
    expect(/500\/1,000 rows, [^\r\n]*?failed[^\r\n\u001b]*/.exec(program.stdout)![0]).toBe('500/1,000 rows, 0 failed');
  });
});

test('watching stops after a minute without answers and says how to resume', async () => {
  let requests = 0;
  const url = await running(() => (++requests === 1 ? 0 : null));
  const program = await StartedProgram.start(
    ['batch', 'watch', 'b-1', '--out', join(folder.path, 'out.csv'), '--url', url],
    { NODE_OPTIONS: `--import=${join(import.meta.dirname, 'fast-time.js')}` },
  );
  expect(await program.ended).toBe(1);
  expect(requests).toBeGreaterThan(50);
  const command = `npx starling batch watch b-1 --out ${join(folder.path, 'out.csv')} --url ${url}`;
  expect(program.stderr.split('\n').at(-2)).toMatch(/^the server at \S+ disconnected before its answer was complete/);
  expect(
    program.stderr.endsWith(`; the batch continues when the server starts again. To watch it then: ${command}\n`),
  ).toBe(true);
});

// Runs `starling batch` as a child process, with and without a terminal, against the built server as another process.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { parse } from 'csv-parse/sync';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Service } from '../support/service.js';
import { describeOnTerminal, framesIn } from './progress-bar.js';
import { type Ended, Folder, runProgram } from './run-program.js';
import { StartedProgram } from './started-program.js';

interface Result {
  index: number;
  status: string;
  result?: object;
  error?: string;
}

const folder = new Folder();
const at = (name: string): string => join(folder.path, name);

// The agents wait for files, so that a test decides when a row finishes.
const CONFIG = `
types:
  Row: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  echo: { consumes: [{ types: [Row] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: payload } }
  gated: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gated.mjs } }
  picky: { consumes: [{ types: [Picky] }], publishes: [{ type: Taken }], retry: { attempts: 1 }, engine: { kind: function, module: ./picky.mjs } }
`;
const GATED = `
import { existsSync } from 'node:fs';
export default async ([{ payload }], { signal }) => {
  while (!existsSync(payload.gate) && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
  return payload;
};`;
const PICKY = `
import { existsSync } from 'node:fs';
export default async ([{ payload }]) => {
  if (payload.mood === 'bad' && !existsSync(payload.mended)) throw new Error('in a bad mood');
  return payload;
};`;

let service: Service;
const programs: StartedProgram[] = [];
const startService = (port: number): Promise<Service> =>
  Service.start([
    ...['--config', at('starling.yaml'), '--database-url', `sqlite:${at('a.db')}`],
    // No other program gets this port while the service restarts.
    ...['--port', String(port)],
  ]);
beforeAll(async () => {
  await builtProgram();
  folder.write('gated.mjs', GATED);
  folder.write('picky.mjs', PICKY);
  folder.write('starling.yaml', CONFIG);
  service = await startService(await freePort());
});
afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill('SIGKILL');
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

const env = (): Record<string, string> => ({ STARLING_URL: service.url });
const starling = (...args: string[]): Promise<Ended> => runProgram(args, { env: env() });

/** Runs until the end of the test at most. */
async function started(program: Promise<StartedProgram>): Promise<StartedProgram> {
  programs.push(await program);
  return program;
}

const idIn = (text: string): string => /^Batch (\S+)/m.exec(text)![1]!;
const statusOf = async (id: string): Promise<string> =>
  (await service.get<{ status: string }>(`/batch/${id}?results_limit=0`)).status;
const readResults = (file: string): Result[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Result);

/** Starts a batch of the gated agent, which continues when the file `gate` exists. */
async function gatedBatch(name: string): Promise<{ csv: string; args: string[]; out: string; open: () => void }> {
  const gate = at(`${name}.gate`);
  const csv = folder.write(`${name}.csv`, 'n\n1\n2\n3\n');
  const out = at(`${name} results.ndjson`);
  const args = ['batch', 'run', csv, '--agent', 'gated', '--static', JSON.stringify({ gate }), '--out', out];
  return { csv, args, out, open: () => void folder.write(`${name}.gate`, '') };
}

describe('starling batch run', () => {
  test('saves every result in the order of the rows, prints a summary, and exits with 0', async () => {
    const rows = Array.from({ length: 50 }, (_, index) => `${index},"a ""quoted"", text\nof two lines"`);
    const csv = folder.write('plain.csv', `n,text\n${rows.join('\n')}\n`);
    const { code, stdout, stderr } = await starling(
      'batch',
      'run',
      csv,
      '--agent',
      'echo',
      '--max-workers',
      '7',
      '--out',
      at('plain.ndjson'),
    );
    expect(stdout).toMatch(/^Batch \S+ completed: 50 of 50 rows, 0 failed, in \d+ s; results in .*plain\.ndjson\n$/);
    const [sending, batch, ...progress] = stderr.trimEnd().split('\n');
    expect([sending, batch]).toEqual([expect.stringContaining(csv), `Batch ${idIn(stdout)}`]);
    expect(progress.length).toBeGreaterThan(0);
    for (const line of progress) expect(line).toMatch(/^\d+% \d+\/50 rows(, [\d.]+\/s)?, 0 failed(, .+ left)?$/);
    expect(code).toBe(0);
    expect(readResults(at('plain.ndjson'))).toMatchObject(
      rows.map((_, index) => ({
        index,
        status: 'completed',
        result: { n: index, text: 'a "quoted", text\nof two lines' },
      })),
    );
  });

  test('maps columns, adds inputs, runs equal rows once, and accepts another delimiter', async () => {
    const csv = folder.write('mapped.csv', 'a=b\tother\n7\tdropped\n7\talso\n8\tdropped\n');
    const options = ['--map', 'a=b=n', '--static', '{"from":"here"}', '--row-key', 'a=b', '--delimiter', '\\t'];
    const { code } = await starling('batch', 'run', csv, '--agent', 'echo', '--out', at('mapped.ndjson'), ...options);
    expect(code).toBe(0);
    const results = readResults(at('mapped.ndjson')) as (Result & { run_id: string })[];
    expect(results.map(({ result }) => result)).toEqual([7, 7, 8].map((n) => ({ n, from: 'here' })));
    expect(new Set(results.map(({ run_id: id }) => id)).size).toBe(2);
  });

  test('writes CSV if the file name says so, and replaces an older file', async () => {
    const csv = folder.write('for-csv.csv', 'n\n1\n2\n');
    const out = folder.write('results.CSV', 'an older one');
    expect((await starling('batch', 'run', csv, '--agent', 'echo', '--out', out)).code).toBe(0);
    expect(parse(readFileSync(out, 'utf8'), { columns: true })).toMatchObject([
      { index: '0', status: 'completed', result: '{"n":1}' },
      { index: '1', status: 'completed', result: '{"n":2}' },
    ]);
    expect(readdirSync(folder.path).filter((file) => file.endsWith('.part'))).toEqual([]);
  });

  test('exits with 1 if rows failed; retry-failed runs those again, and exits with 0', async () => {
    const csv = folder.write('picky.csv', 'mood\ngood\nbad\ngood\nbad\n');
    const run = await starling(
      'batch',
      'run',
      csv,
      '--agent',
      'picky',
      '--static',
      JSON.stringify({ mended: at('mended') }),
      '--out',
      at('picky.ndjson'),
    );
    expect(run.stdout).toMatch(/ completed: 4 of 4 rows, 2 failed, in /);
    expect(run.code).toBe(1);
    const id = idIn(run.stdout);
    expect(run.stderr.split('\n').slice(-4)).toEqual([
      'Why rows failed:',
      expect.stringMatching(/^ {2}2 x .*in a bad mood/) as string,
      `To run the failed rows again: npx starling batch retry-failed ${id} --out ${at('picky.ndjson')} --url ${service.url}`,
      '',
    ]);
    const results = readResults(at('picky.ndjson'));
    expect(results.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed', 'failed']);
    expect(results[1]!.error).toContain('in a bad mood');

    folder.write('mended', '');
    const again = await starling('batch', 'retry-failed', idIn(run.stdout), '--out', at('picky.ndjson'));
    expect(again.stdout).toMatch(/ completed: 4 of 4 rows, 0 failed, in /);
    expect(again.code).toBe(0);
    expect(readResults(at('picky.ndjson')).map(({ status }) => status)).toEqual(Array(4).fill('completed'));

    expect(await starling('batch', 'retry-failed', idIn(run.stdout))).toEqual({
      code: 1,
      stdout: '',
      stderr: `Batch ${idIn(run.stdout)} has no failed items\n`,
    });
  });

  test('exits with 1 if every row failed', async () => {
    const csv = folder.write('failing.csv', 'mood\nbad\n');
    const { code, stdout, stderr } = await starling(
      'batch',
      'run',
      csv,
      '--agent',
      'picky',
      '--static',
      '{"mended":"/nowhere"}',
    );
    expect(stderr).toContain(
      `To save every row's result: npx starling batch watch ${idIn(stdout)} --out results.csv --url ${service.url}\n`,
    );
    expect(stdout).toMatch(/^Batch \S+ failed \(every item failed\): 1 of 1 rows, 1 failed/);
    expect(code).toBe(1);
  });

  test.each([
    ['an unknown agent', ['--agent', 'nobody'], 'Agent not found: nobody'],
    ['a malformed mapping', ['--agent', 'echo', '--map', 'n'], '--map: must be <column>=<input> (got "n")'],
    [
      'workers that are not a number',
      ['--agent', 'echo', '--max-workers', 'many'],
      '--max-workers: must be a number (got "many")',
    ],
    [
      'fields as the options that were typed',
      ['--agent', 'echo', '--max-workers', '0', '--static', '[]'],
      '--max-workers: must not be less than 1; --static: must be an object',
    ],
    ['a malformed separator', ['--agent', 'echo', '--delimiter', '::'], '--delimiter: must be exactly one character'],
    [
      'a mapped column that is missing',
      ['--agent', 'echo', '--map', 'max_workers=n'],
      '--map: there is no column "max_workers"; the header has "n"',
    ],
    [
      'a key column that is missing',
      ['--agent', 'echo', '--row-key', 'id'],
      '--row-key: there is no column "id"; the header has "n"',
    ],
    [
      'results in a folder that is missing',
      ['--agent', 'echo', '--out', '/nowhere/results.csv'],
      '--out: there is no folder /nowhere; create it, or name another file',
    ],
    ['results in a folder', ['--agent', 'echo', '--out', '/tmp'], '--out: /tmp is not a regular file'],
  ])('refuses %s', async (_, options, line) => {
    const csv = folder.write('refused.csv', 'n\n1\n');
    const { code, stdout, stderr } = await starling('batch', 'run', csv, ...options);
    expect({ code, stdout, last: stderr.split('\n').at(-2) }).toEqual({ code: 1, stdout: '', last: line });
    if (line.startsWith('--out')) expect(stderr).not.toContain('Sending');
  });

  test.each([
    ['a missing file', 'missing.csv', 'cannot read missing.csv (ENOENT)'],
    ['a folder', '/tmp', '/tmp is not a regular file; name the CSV file to upload'],
    ['a device', '/dev/null', '/dev/null is not a regular file; name the CSV file to upload'],
  ])('refuses %s', async (_, file, line) => {
    expect(await starling('batch', 'run', file, '--agent', 'echo')).toEqual({
      code: 1,
      stdout: '',
      stderr: `${line}\n`,
    });
  });

  test('refuses a file that changes while it is sent', async () => {
    // More than the buffers of the connection hold.
    const csv = folder.write('growing.csv', `n\n${'1\n'.repeat(16_000_000)}`);
    const reader = createServer((request) => {
      request.once('data', () => appendFileSync(csv, '2\n'));
      request.on('error', () => undefined).resume();
    });
    await new Promise<void>((resolve) => reader.listen(0, '127.0.0.1', resolve));
    const { port } = reader.address() as AddressInfo;
    const { code, stderr } = await starling(
      'batch',
      'run',
      csv,
      '--agent',
      'echo',
      '--url',
      `http://127.0.0.1:${port}`,
    );
    reader.close();
    expect(code).toBe(1);
    expect(stderr.split('\n').slice(1)).toEqual([
      'the file changed while it was sent, or can no longer be read; send it again when it no longer changes',
      '',
    ]);
  });

  test('prints what the server reports about the file', async () => {
    const { code, stderr } = await starling(
      'batch',
      'run',
      folder.write('ragged.csv', 'a,b\n1,2\n3\n'),
      '--agent',
      'echo',
    );
    expect(code).toBe(1);
    expect(stderr.split('\n').at(-2)).toContain('line 3');
  });
});

describe('watching a batch', () => {
  test('stops on Ctrl-C and prints how to resume; the batch continues, and so does the printed command', async () => {
    const { args, out, open } = await gatedBatch('interrupted');
    const program = await started(StartedProgram.start(args, env()));
    await eventually('it watches', () => /^0% 0\/3 rows/m.test(program.stderr));
    program.process.kill('SIGINT');
    expect(await program.ended).toBe(130);
    expect(program.stdout).toBe('');
    const id = idIn(program.stderr);
    const command = `npx starling batch watch ${id} --out '${out}' --url ${service.url}`;
    expect(program.stderr.split('\n').at(-2)).toBe(`The batch continues. To watch it again: ${command}`);
    expect(existsSync(out)).toBe(false);
    expect(await statusOf(id)).toBe('running');

    open();
    const built = await builtProgram();
    const stdout = execFileSync('sh', ['-c', command.replace('npx starling', `'${process.execPath}' '${built}'`)], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(stdout).toContain(`Batch ${id} completed: 3 of 3 rows, 0 failed`);
    expect(readResults(out)).toHaveLength(3);
  });

  test('survives a restart of the server, and reports it once', async () => {
    const { args, out, open } = await gatedBatch('restarted');
    const program = await started(StartedProgram.start(args, env()));
    await eventually('it watches', () => /^0% 0\/3 rows/m.test(program.stderr));
    await service.kill();
    await eventually('it asks again', () => program.stderr.includes('retrying for up to a minute'));
    service = await startService(Number(new URL(service.url).port));
    open();
    expect(await program.ended).toBe(0);
    expect(program.stderr.match(/retrying for up to/g)).toHaveLength(1);
    expect(program.stderr.match(/^the server is available again$/gm)).toHaveLength(1);
    expect(readResults(out).map(({ status }) => status)).toEqual(Array(3).fill('completed'));
  });

  test('exits with 1 when the batch is cancelled', async () => {
    const { args } = await gatedBatch('cancelled');
    const program = await started(StartedProgram.start(args, env()));
    await eventually('it watches', () => /^0% 0\/3 rows/m.test(program.stderr));
    const id = idIn(program.stderr);
    const cancelled = await starling('batch', 'cancel', id);
    expect(cancelled).toMatchObject({ code: 0, stderr: '' });
    expect(cancelled.stdout).toMatch(new RegExp(`^Batch ${id} cancelled: 0 of 3 rows, 0 failed`));
    expect(await program.ended).toBe(1);
    expect(program.stdout).toMatch(new RegExp(`^Batch ${id} cancelled: `));
    expect(await starling('batch', 'cancel', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has already ended') as string,
    });
  });

  test('reports a finished batch immediately', async () => {
    const { stdout } = await starling('batch', 'run', folder.write('ended.csv', 'n\n1\n'), '--agent', 'echo');
    const again = await starling('batch', 'watch', idIn(stdout), '--out', at('ended.ndjson'));
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('completed: 1 of 1 rows, 0 failed') as string,
    });
    expect(readResults(at('ended.ndjson'))).toMatchObject([{ index: 0, result: { n: 1 } }]);
  });
});

describeOnTerminal('on a terminal', () => {
  test('a bar shows the progress, and no line is wider than the terminal', async () => {
    const { args, open } = await gatedBatch('drawn');
    const program = await started(StartedProgram.onTerminal(60, args, env()));
    await eventually('the bar is drawn', () => framesIn(program.stdout).length > 0);
    expect(framesIn(program.stdout)[0]).toMatch(/^░+ 0% 0\/3 rows/);
    open();
    expect(await program.ended).toBe(0);
    const all = framesIn(program.stdout);
    expect(all.at(-1)).toMatch(/^█+ 100% 3\/3 rows, [\d.]+\/s, 0 failed$/);
    expect(Math.max(...all.map((drawing) => drawing.length))).toBeLessThanOrEqual(60);
    expect(program.stdout).toContain('completed: 3 of 3 rows');
  });

  test('Ctrl-C stops watching with 130, on a separate line', async () => {
    const { args } = await gatedBatch('left');
    const program = await started(StartedProgram.onTerminal(100, args, env()));
    await eventually('the bar is drawn', () => framesIn(program.stdout).length > 0);
    program.process.stdin!.write('\u0003');
    expect(await program.ended).toBe(130);
    expect(program.stdout).toMatch(/\r\nThe batch continues\. To watch it again: npx starling batch watch /);
    rmSync(at('left.gate'), { force: true });
  });
});

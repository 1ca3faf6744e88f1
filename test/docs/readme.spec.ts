import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { blocksOf, readMarkdown } from './markdown.js';

interface Answer {
  artifacts: { type: string; produced_by: string; payload: object }[];
  completed: boolean;
}

const README = readMarkdown('README.md');
const COMMANDS = blocksOf(README, 'sh');
const shown = (text: string): string => COMMANDS.find((command) => command.includes(text)) ?? `the README shows no command with ${text}`;

/** Runs a command that the README shows, against the service at `url`. */
async function run(command: string, url: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:8344', url)]);
  return stdout;
}

// Real: the README's own commands and files, the built program as a process, the compiler, HTTP. Nothing is faked.
describe('the README', () => {
  let folder: string;
  const started: { kill(signal?: NodeJS.Signals): unknown }[] = [];

  beforeAll(async () => {
    await builtProgram();
    folder = mkdtempSync(join(tmpdir(), 'starling-readme-'));
  });
  afterEach(async () => {
    for (const service of started.splice(0)) await service.kill('SIGKILL');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (path: string, text: string): string => {
    const file = join(folder, path);
    mkdirSync(resolve(file, '..'), { recursive: true });
    writeFileSync(file, text);
    return file;
  };

  async function serve(config: string): Promise<string> {
    const service = await Service.start(['--config', config, '--database-url', `sqlite:${join(folder, `${started.length}-${Date.now()}.db`)}`]);
    started.push(service);
    return service.url;
  }

  it('shows the answer that its first command gets, and the cascade that its next commands show', async () => {
    const url = await serve('examples/support-desk/starling.yaml');

    const [expected] = blocksOf(README, 'json').map((text) => JSON.parse(text) as Answer);
    const answer = JSON.parse(await run(shown('When will I get my card?'), url)) as Answer;
    expect(answer.artifacts.map(({ type, produced_by, payload }) => ({ type, produced_by, payload }))).toEqual(expected!.artifacts);
    expect(answer.completed).toBe(true);

    expect(await run(shown('X-Correlation-ID: ticket-17'), url)).toBe(blocksOf(README, 'json')[1]!.trim());
    const status = shown('correlations/ticket-17/status').split('\n')[0]!;
    await eventually('the cascade ends', async () => (await run(status, url)).includes('"completed"'));
    expect(await run(status, url)).toContain('"artifact_count":4,"error_count":0');
  });

  it('shows an expression and a function that answer as it says', async () => {
    const [expression, functionAgent] = blocksOf(README, 'yaml');
    write('shop/agents/quoter.ts', blocksOf(README, 'ts')[0]!);
    const url = await serve(write('shop/starling.yaml', `${expression}\n${functionAgent}`));

    const { artifacts } = JSON.parse(await run(shown('"product": "Lamp"'), url)) as Answer;
    expect(artifacts.map(({ type }) => type).sort()).toEqual(['Letter', 'Quote']);
    for (const { payload } of artifacts) expect(README).toContain(JSON.stringify(payload).replaceAll('":', '": ').replaceAll(',"', ', "'));

    const sofa = JSON.parse(await run(shown('"product": "Lamp"').replace('Lamp', 'Sofa').replace('"pieces": 12', '"pieces": 1'), url)) as Answer;
    expect(sofa.artifacts).toMatchObject([{ type: 'WorkflowError', payload: { error_message: 'there is no price for Sofa', attempts: 2 } }]);
    expect(README).toContain('there is no price for Sofa');
  });

  it('shows a Nest program that compiles against the package, and serves its agent and its controller', async () => {
    write('nest/main.ts', blocksOf(README, 'ts')[1]!);
    write('nest/package.json', '{ "type": "module" }');
    write('nest/starling.yaml', 'types: {}');
    mkdirSync(join(folder, 'nest/node_modules'));
    // As npm would install them.
    symlinkSync(resolve('.'), join(folder, 'nest/node_modules/starling'));
    for (const scope of ['@nestjs', '@types']) symlinkSync(resolve('node_modules', scope), join(folder, 'nest/node_modules', scope));
    const cwd = join(folder, 'nest');
    const compile = shown('npx tsc').split('\n')[0]!.split(' ').slice(2);
    await promisify(execFile)(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...compile], { cwd });

    const program: ChildProcess = spawn(process.execPath, ['main.js'], { cwd, env: { PATH: process.env.PATH, STARLING_PORT: '0' }, stdio: ['ignore', 'ignore', 'pipe'] });
    started.push(program);
    let said = '';
    program.stderr!.on('data', (text) => (said += String(text)));
    await eventually('the program serves', () => /http:\/\/\S+:\d+/.test(said));
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(said)!;

    expect(JSON.parse(await run(shown('"product": "Lamp"'), url))).toMatchObject({ artifacts: [{ type: 'Quote', payload: { product: 'Lamp', total: 474 } }] });
    expect(await run('curl -s http://127.0.0.1:8344/prices', url)).toBe('{"Lamp":39.5,"Chair":120}');
  });
});

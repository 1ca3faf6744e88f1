import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { PROGRAM_ENVIRONMENT } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type Step, stepsOf } from './page.js';
import { holds, type Known, withKnown } from './shown-answer.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** The packages that programs of the pages import. */
const PACKAGES = ['@nestjs', '@types', '@modelcontextprotocol', 'standardwebhooks'];
const COMPILER = [
  '--ignoreConfig',
  '--noEmit',
  '--module',
  'nodenext',
  '--target',
  'es2024',
  '--experimentalDecorators',
  '--emitDecoratorMetadata',
  '--strict',
  '--skipLibCheck',
  '--types',
  'node',
  '--allowImportingTsExtensions',
];

const { start: START } = (
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts;

const PORTS = /(?<![\d.])(?:8344|8345|8460|900[0-3]|4318)\b/g;
const SERVICE = /\bstarling\.js (?:serve|worker|dev)\b|^node main\.js$/;
/** Commands that run until they are stopped. */
const LASTING = new RegExp(
  `${SERVICE.source}|(?:^|^\\w+=\\S+ )(?:node|python3) (?:--\\S+ )*\\S+\\.(?:m?js|py)$|curl -sN|createServer`,
  'm',
);
const ONLY_READS =
  /^(?:curl -s '?http\S+(?: -H 'Accept: [^']+')?\s*)+$|^npx starling (?:agents|artifacts|executions|trace|compare|explain|waiting|batch list)[^|]*$/;
/** Commands that print tables on a terminal, and JSON in a pipe. */
const FOR_A_TERMINAL =
  /starling\.js (?:agents|artifacts|executions|trace|compare|explain|waiting|retry|replay|experiment run|experiment list|batch list)(?![^|]*(?:\||--json))/;
const COLUMNS = 120;

interface Running {
  process: ChildProcess;
  port: string;
  said: string;
}

/** Follows one page as a reader would: with files, programs and HTTP. Only the ports and the folder differ. */
export class Walk {
  private readonly folders: string[] = [];
  private folder = this.newFolder();
  private readonly known: Known = new Map();
  private readonly ports = new Map<string, string>();
  private readonly running: Running[] = [];
  private readonly unchecked = new Set<string>();
  private exported = '';
  private file: string | null = null;
  private isLeftOut = false;
  private answer = (): string => '';
  private again: (() => Promise<void>) | null = null;

  constructor(
    private readonly page: string,
    private readonly variables: Record<string, string> = {},
  ) {}

  /** Rejects with the page's line and the difference. */
  async walk(): Promise<void> {
    for (const step of stepsOf(this.page)) {
      await this.step({ ...step, text: await this.withPorts(step.text) }).catch((error: unknown) => {
        throw new Error(`${this.page}:${step.line}: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
    await this.checkConfigurations();
  }

  /**
   * Compiles all pages together, because a compiler takes longer to start than to check one of them. Throws the errors.
   */
  static checkTypes(walks: readonly Walk[]): void {
    const files = walks
      .flatMap(({ folders }) => folders)
      .flatMap((folder) =>
        globSync('**/*.ts', { cwd: folder, exclude: ['node_modules', 'examples'] }).map((file) => join(folder, file)),
      );
    try {
      execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...COMPILER, ...files], {
        cwd: ROOT,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout);
    }
  }

  removeFolders(): void {
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true });
  }

  /** Stops the programs that are still running. */
  async end(): Promise<void> {
    await Promise.all(this.running.splice(0).map((one) => this.stop(one)));
  }

  private async step({ does, language, text, line }: Step): Promise<void> {
    if (does === 'file') this.file = text;
    else if (does === 'not run') this.isLeftOut = true;
    else if (does === 'start') await this.start(text);
    else if (does === 'stop') await this.stopAt(text);
    else if (does === 'run') await this.run(text);
    else if (does === 'answer') await this.compare(text, false);
    else if (language === 'text') return;
    else if (this.isLeftOut) this.isLeftOut = false;
    else if (language === 'sh') await this.run(text);
    else if (language === 'yaml') await this.configuration(text);
    else if (language === 'ts' || language === 'js' || this.file !== null)
      this.write(text, this.file ?? this.pathIn(text) ?? `example-${line}.${language}`);
    else await this.compare(text, language === '');
  }

  private async start(command: string): Promise<void> {
    for (const one of this.running.splice(0)) await this.stop(one);
    this.known.clear();
    this.folder = this.newFolder();
    await this.run(`npx starling serve --config ${command}`);
  }

  private newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'starling-page-'));
    this.folders.push(folder);
    mkdirSync(join(folder, 'node_modules'));
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
    // Linked as npm would install them.
    symlinkSync(ROOT, join(folder, 'node_modules/starling-agents'));
    for (const name of PACKAGES) symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    return folder;
  }

  private async run(text: string): Promise<void> {
    const commands = commandsIn(withKnown(text, this.known));
    const said: (() => string)[] = [];
    this.answer = () =>
      [...said.map((one) => one()), ...this.running.filter(({ port }) => port === '').map((one) => one.said)].join(
        '\n',
      );
    this.again = ONLY_READS.test(text) ? () => this.run(text) : null;
    for (const command of commands) said.push(await this.runOne(fromHere(command)));
  }

  private async runOne(command: string): Promise<() => string> {
    if (command.startsWith('export ')) this.exported += `${command}\n`;
    if (!LASTING.test(command)) return this.runToEnd(command);
    const port = SERVICE.test(command) ? (/--port (\d+)/.exec(command)?.[1] ?? (await this.portFor('8344'))) : '';
    await this.stopAt(port);
    const one = { process: await this.spawn(`exec ${command.replace(/^((?:\w+=\S+ )+)/, 'env $1')}`), port, said: '' };
    this.running.push(one);
    one.process.stdout!.on('data', (part) => (one.said += String(part)));
    one.process.stderr!.on('data', (part) => (one.said += String(part)));
    if (port !== '') await this.ready(one);
    const listens = /\blisten\((\d+)/.exec(command)?.[1];
    if (listens !== undefined) await eventually(`something listens on port ${listens}`, () => isOpen(Number(listens)));
    return () => one.said;
  }

  private async ready(one: Running): Promise<void> {
    this.unchecked.clear();
    const hasEnded = (): boolean => one.process.exitCode !== null;
    await eventually(
      'the service is ready',
      async () => hasEnded() || (await fetch(`http://127.0.0.1:${one.port}/health/ready`)).status === 200,
    );
    if (hasEnded()) throw new Error(`the service ended:\n${one.said}`);
  }

  private async runToEnd(command: string): Promise<() => string> {
    const child = await this.spawn(FOR_A_TERMINAL.test(command) ? onTerminal(command) : command);
    let said = '';
    child.stdout!.on('data', (part) => (said += String(part)));
    child.stderr!.on('data', (part) => (said += String(part)));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${command}\nended with ${code}: ${said}`);
    return () => said;
  }

  private async spawn(command: string): Promise<ChildProcess> {
    const port = await this.portFor('8344');
    const own = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      TERM: 'dumb',
      STARLING_PORT: port,
      STARLING_URL: `http://127.0.0.1:${port}`,
    };
    const env = { ...PROGRAM_ENVIRONMENT, ...own, ...this.variables };
    return spawn('bash', ['-c', `${this.exported}${command}`], {
      cwd: this.folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  private async stopAt(port: string): Promise<void> {
    const one = this.running.findIndex((running) => port !== '' && running.port === port);
    if (one >= 0) await this.stop(this.running.splice(one, 1)[0]!);
  }

  private async stop({ process: child }: Running): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    process.kill(-child.pid!, 'SIGKILL');
    await ended;
  }

  private async compare(shown: string, isPlain: boolean): Promise<void> {
    if (this.answer() === '' && this.again === null && this.running.length === 0)
      throw new Error('nothing was run that this could be the answer of');
    await eventually(
      '',
      async () => {
        if (holds(this.answer(), shown, isPlain, this.known)) return true;
        await this.again?.();
        return false;
      },
      this.again || this.running.length > 0 ? 90_000 : 1_000,
    ).catch(() => {
      throw new Error(`the answer is another one:\n${this.answer()}`);
    });
  }

  private async configuration(text: string): Promise<void> {
    const file = this.file ?? 'starling.yaml';
    if (!text.startsWith(' ')) await this.checkConfigurations();
    this.write(text, file);
    this.unchecked.add(file);
  }

  private async checkConfigurations(): Promise<void> {
    for (const file of this.unchecked) await this.runToEnd(`node ${ROOT}/bin/starling.js check ${file}`);
    this.unchecked.clear();
  }

  /** An indented text is added to the content of the file. */
  private write(text: string, path: string): void {
    this.file = null;
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    (text.startsWith(' ') ? appendFileSync : writeFileSync)(file, text);
  }

  private pathIn(text: string): string | undefined {
    return /^\/\/ (\S+\.\w+)$/m.exec(text.split('\n')[0]!)?.[1];
  }

  private async withPorts(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORTS)) await this.portFor(port);
    return text.replaceAll(PORTS, (port) => this.ports.get(port)!);
  }

  private async portFor(port: string): Promise<string> {
    if (!this.ports.has(port)) this.ports.set(port, String(await freePort()));
    return this.ports.get(port)!;
  }
}

/** Runs a reader's `npx`, after the `npm ci` and the build that come before the tests. */
function fromHere(command: string): string {
  const started = START.slice(START.indexOf('exec bin/') + 'exec bin/starling.js'.length);
  return command
    .replace(/(?:npm ci && )?npm start$/, `npx starling${started}`)
    .replaceAll('npx starling', `node ${ROOT}/bin/starling.js`)
    .replace('npx tsc', `node ${ROOT}/node_modules/typescript/bin/tsc`);
}

/** `script` (util-linux) makes a pseudo terminal. */
const onTerminal = (command: string): string =>
  `script -qec "stty cols ${COLUMNS}; ${command.replace(/["$\\`]/g, '\\$&')}" /dev/null`;

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A line is incomplete while a quotation is open, or if it ends in a backslash or an operator. */
function commandsIn(text: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of text.trimEnd().split('\n')) {
    open += line;
    const isWhole = open.split("'").length % 2 === 1 && !/(?:\\|&&|\|)$/.test(open);
    if (isWhole && open.trim() !== '') commands.push(open);
    open = isWhole ? '' : `${open}\n`;
  }
  return open === '' ? commands : [...commands, open];
}

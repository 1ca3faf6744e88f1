import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { eventually } from './eventually.ts';
import type { Load, Measured } from './load.ts';

const here = (file: string): string => join(import.meta.dirname, file);
const CHECKOUT = here('..');
const PROGRAM = join(CHECKOUT, 'bin/starling.js');

const running = new Set<ChildProcess>();

function track(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends every process that was started here; also the last resort when the bench itself fails. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface ServiceParts {
  databaseUrl?: string;
  command?: 'serve' | 'worker';
  options?: string[];
  /** A file of this folder; starling.yaml if absent. */
  configuration?: string;
  /** The folder of the build; this one if absent. */
  checkout?: string;
}

/** A server under load: a process that writes its output to a file and prints its address there. */
export class Server {
  private readonly process: ChildProcess;
  readonly url: string;

  private constructor(process: ChildProcess, url: string) {
    this.process = process;
    this.url = url;
  }

  /**
   * Starts the service as `npx starling` does, with `options`, a configuration of the bench and otherwise default settings.
   * Its log, and its database unless one is given, is a file of that name in the folder.
   */
  static starling(
    folder: string,
    name: string,
    {
      databaseUrl,
      command = 'serve',
      options = [],
      configuration = 'starling.yaml',
      checkout = CHECKOUT,
    }: ServiceParts = {},
  ): Promise<Server> {
    const url = databaseUrl ?? `sqlite:${join(folder, `${name}.db`)}`;
    const args = [command, '--config', here(configuration), '--port', '0', '--database-url', url, ...options];
    return Server.start(join(checkout, 'bin/starling.js'), args, join(folder, `${name}.log`));
  }

  static echo(folder: string): Promise<Server> {
    return Server.start(process.execPath, [here('echo-app.ts')], join(folder, 'echo.log'));
  }

  static model(folder: string): Promise<Server> {
    return Server.start(process.execPath, [here('model-app.ts')], join(folder, 'model.log'));
  }

  static remoteAgent(folder: string): Promise<Server> {
    return Server.start(process.execPath, [here('remote-app.ts')], join(folder, 'remote-agent.log'));
  }

  /** A page of React alone that shows the artifacts of another server. */
  static reactPage(folder: string, url: string): Promise<Server> {
    const args = [here('react-app.ts'), join(folder, 'react-page'), url];
    return Server.start(process.execPath, args, join(folder, 'react-page.log'));
  }

  private static async start(command: string, args: string[], logPath: string): Promise<Server> {
    const log = openSync(logPath, 'w');
    const child = track(spawn(command, args, { stdio: ['ignore', log, log] }));
    const name = basename(logPath, '.log');
    const url = await eventually(`${name} says its address`, async () => {
      const output = readFileSync(logPath, 'utf8');
      if (child.exitCode !== null) throw new Error(`${name} ended before it was ready:\n${output}`);
      return /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    });
    return new Server(child, url);
  }

  get pid(): number {
    return this.process.pid!;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exited;
  }
}

/** Sends loads from a separate process. */
export class LoadGenerator {
  private readonly process = track(fork(here('load-generator.ts')));
  /** The largest share of a core that it has used in any run. */
  busiest = 0;

  async run(load: Load): Promise<Measured> {
    this.process.send(load);
    const [answer] = (await once(this.process, 'message')) as [{ measured: Measured } | { problem: string }];
    if ('problem' in answer) throw new Error(`under load, ${answer.problem}`);
    this.busiest = Math.max(this.busiest, answer.measured.generatorBusy);
    return answer.measured;
  }

  stop(): void {
    this.process.kill();
  }
}

/** Starts a module of the bench as a process, and exchanges messages with it. */
export const forked = (file: string, args: string[]): ChildProcess => track(fork(here(file), args));

/** Runs a module of the bench to its end, and returns the number that it sends. */
export async function measuredBy(file: string, args: string[]): Promise<number> {
  const child = track(fork(here(file), args));
  const answered = once(child, 'message') as Promise<[number]>;
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${file} ended (${code}) without an answer`)),
  );
  const [measured] = await Promise.race([answered, ended]);
  await ended.catch(() => undefined);
  return measured;
}

/** Runs a module of the bench to its end. */
export const runToEnd = (file: string, args: string[]): Promise<void> =>
  succeeds(spawn(process.execPath, [here(file), ...args], { stdio: 'inherit' }), file);

/** Runs a command of the service to its end, and ignores its output. */
export const runStarling = (args: string[]): Promise<void> =>
  succeeds(spawn(PROGRAM, args, { stdio: 'ignore' }), `starling ${args.join(' ')}`);

async function succeeds(process: ChildProcess, what: string): Promise<void> {
  const [code] = (await once(track(process), 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${what} failed (${code})`);
}

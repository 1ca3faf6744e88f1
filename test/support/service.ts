import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { builtProgram, PROGRAM_ENVIRONMENT } from './built-program.js';
import { eventually } from './eventually.js';

const SHOWN_SERVICES = 4;
const SHOWN_LINES = 40;

/** The services that were started last, each with its log. A failing test prints them. */
const latest: Service[] = [];

subscribe('test-failure', () => {
  for (const { process, log } of latest.splice(0)) {
    console.error(`the last lines of service ${process.pid}:\n${log.slice(-SHOWN_LINES).join('\n')}`);
  }
});

/** The built program as a child process, on a free port. */
export class Service {
  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
    /** Its output so far: JSON lines, and the text for the terminal. */
    readonly log: readonly string[],
  ) {}

  /**
   * Resolves when the service is ready. Rejects with its output when it exits before. `within` is a command that runs
   * the command that follows it, as the same process.
   */
  static async start(
    args: string[],
    env: Record<string, string> = {},
    within: readonly string[] = [],
  ): Promise<Service> {
    return Service.run([...within, process.execPath, await builtProgram(), 'serve', '--port', '0', ...args], env);
  }

  /** The same for a whole command, which must serve on a free port. */
  static async run([command, ...rest]: string[], env: Record<string, string> = {}): Promise<Service> {
    const child = spawn(command!, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...PROGRAM_ENVIRONMENT, ...env },
    });
    const log: string[] = [];
    const collect = (line: string): void => {
      log.push(line);
      if (log.length > 2_000) log.shift();
    };
    createInterface({ input: child.stdout }).on('line', collect);
    const ended = new Promise<never>((_, reject) => {
      child.once('exit', (code, signal) =>
        reject(new Error(`the service ended (${code ?? signal}) before it was ready:\n${log.join('\n')}`)),
      );
    });
    const address = new Promise<string>((resolve) => {
      createInterface({ input: child.stderr }).on('line', (line) => {
        collect(line);
        const found = /http:\/\/(localhost|[\d.]+):\d+/.exec(line)?.[0];
        if (found) resolve(found);
      });
    });
    const url = await Promise.race([address, ended]);
    const service = new Service(child, url, log);
    latest.push(service);
    if (latest.length > SHOWN_SERVICES) latest.shift();
    // A process that has exited is not asked again.
    const ready = eventually(
      'the service is ready',
      async () => service.hasEnded || (await fetch(`${url}/health/ready`)).status === 200,
    );
    await Promise.race([ready, ended]);
    return service;
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    if (this.hasEnded) return this.process.exitCode;
    const exited = once(this.process, 'exit');
    this.process.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  }

  async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.url}${path}`);
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
}

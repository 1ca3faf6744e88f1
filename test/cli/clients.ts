import type { Service } from '../support/service.js';
import { runInProcess } from './in-process.js';
import { type Ended, runProgram } from './run-program.js';
import { StartedProgram } from './started-program.js';

/** The client commands for one service, in this process unless a method says otherwise. */
export class Clients {
  constructor(private readonly service: Service) {}

  private get env(): Record<string, string> {
    return { STARLING_URL: this.service.url };
  }

  run(...args: string[]): Promise<Ended> {
    return runInProcess(args, { env: this.env });
  }

  /** Runs the built program as a child process. */
  runAlone(...args: string[]): Promise<Ended> {
    return runProgram(args, { env: this.env });
  }

  /** Returns what a successful command prints to a pipe: one JSON document. */
  async json<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.printed(args)) as T;
  }

  /** The same for a list: one document on each line. */
  async list<T>(...args: string[]): Promise<T[]> {
    const lines = (await this.printed(args)).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as T);
  }

  /** Returns the lines that a command writes to a terminal of this width. */
  async onTerminal(columns: number, args: string[]): Promise<string[]> {
    return (await runInProcess(args, { env: this.env, columns })).stdout.trimEnd().split('\n');
  }

  /** The same for the built program as a child process, on a pseudo terminal. */
  async onRealTerminal(columns: number, args: string[], env: Record<string, string> = {}): Promise<string[]> {
    const program = await StartedProgram.onTerminal(columns, args, { ...this.env, ...env });
    await program.ended;
    return program.stdout.replaceAll('\r', '').trimEnd().split('\n');
  }

  private async printed(args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  }
}

export const ID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;

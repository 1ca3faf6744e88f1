import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program as a child process, which prints its address on a line of its standard output. */
export class Program {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
    /** Lines of its standard output so far. */
    readonly said: readonly string[],
  ) {}

  /** Rejects with its output if it exits before. */
  static async start(command: string, args: string[], env: Record<string, string>): Promise<Program> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, ...env } });
    const said: string[] = [];
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const url = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) =>
        reject(new Error(`${command} ${args.join(' ')} ended (${code}) before it said its address:\n${errors}`)),
      );
      createInterface({ input: child.stdout }).on('line', (line) => {
        said.push(line);
        const found = /http:\/\/[\d.]+:\d+\//.exec(line)?.[0];
        if (found) resolve(found);
      });
    });
    return new Program(child, url, said);
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await exited;
  }
}

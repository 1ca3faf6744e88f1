import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { builtProgram, PROGRAM_ENVIRONMENT } from '../support/built-program.js';

/** A program that runs beside the test, with its output so far. */
export class StartedProgram {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  private constructor(readonly process: ChildProcess) {
    process.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    process.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(process, 'close').then(([code]) => code as number | null);
  }

  static async start(args: string[], env: Record<string, string> = {}): Promise<StartedProgram> {
    return StartedProgram.of(process.execPath, [await builtProgram(), ...args], env);
  }

  /**
   * Starts it under a pseudo terminal of this width, which `script` (util-linux) makes; its whole output is in
   * `stdout`.
   */
  static async onTerminal(columns: number, args: string[], env: Record<string, string> = {}): Promise<StartedProgram> {
    const command = [process.execPath, await builtProgram(), ...args].map((word) => `'${word}'`).join(' ');
    return StartedProgram.of('script', ['-qec', `stty cols ${columns}; exec ${command}`, '/dev/null'], env);
  }

  private static of(command: string, args: string[], env: Record<string, string>): StartedProgram {
    return new StartedProgram(
      spawn(command, args, { env: { ...PROGRAM_ENVIRONMENT, ...env }, stdio: ['pipe', 'pipe', 'pipe'] }),
    );
  }
}

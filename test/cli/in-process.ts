import { PassThrough } from 'node:stream';

import { buildProgram } from '../../src/cli/program.js';
import { PROGRAM_ENVIRONMENT } from '../support/built-program.js';
import type { Ended } from './run-program.js';

/** Ends a command where it calls `process.exit`. */
class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

interface Surroundings {
  env: Record<string, string>;
  /** The width of the terminal, which has no colours. Without it, the command writes to a pipe. */
  columns?: number;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a client command to its end in this process, with its own environment, output and exit code. On a terminal
 * everything is in `stdout`. Commands run one after the other, because they share the process.
 */
export function runInProcess(args: string[], surroundings: Surroundings): Promise<Ended> {
  const ended = last.then(() => run(args, surroundings));
  last = ended.catch(() => undefined);
  return ended;
}

async function run(args: string[], { env, columns }: Surroundings): Promise<Ended> {
  const stdout = new Recorded(columns);
  const stderr = columns === undefined ? new Recorded() : stdout;
  const restore = [
    replace(process, 'stdout', stdout),
    replace(process, 'stderr', stderr),
    replace(process, 'env', { ...PROGRAM_ENVIRONMENT, ...env }),
    replace(process, 'exit', (code = 0) => {
      throw new Exit(Number(code));
    }),
    replace(console, 'log', (text: string) => stdout.write(`${text}\n`)),
    replace(console, 'error', (text: string) => stderr.write(`${text}\n`)),
  ];
  const { exitCode } = process;
  process.exitCode = undefined;
  try {
    await buildProgram().parseAsync(args, { from: 'user' });
    return {
      code: Number(process.exitCode ?? 0),
      stdout: stdout.text,
      stderr: columns === undefined ? stderr.text : '',
    };
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    return { code: error.code, stdout: stdout.text, stderr: columns === undefined ? stderr.text : '' };
  } finally {
    process.exitCode = exitCode;
    restore.forEach((each) => each());
  }
}

/** Keeps what is written to it. */
class Recorded extends PassThrough {
  text = '';
  readonly isTTY: boolean;

  constructor(readonly columns?: number) {
    super();
    this.isTTY = columns !== undefined;
    this.setEncoding('utf8').on('data', (text: string) => (this.text += text));
  }

  getColorDepth(): number {
    return 1;
  }
}

/** Replaces a property of a global object, and returns a function that puts it back. */
function replace<T extends object>(target: T, name: keyof T, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
  return () => {
    if (before) Object.defineProperty(target, name, before);
    else delete target[name];
  };
}

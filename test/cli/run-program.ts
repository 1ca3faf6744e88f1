import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { builtProgram, PROGRAM_ENVIRONMENT } from '../support/built-program.js';

const LONGEST_MS = 200_000;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built program to its end, with only the given environment. */
export async function runProgram(
  args: string[],
  { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Ended> {
  const program = await builtProgram();
  return new Promise((resolve) => {
    // A program that hangs must not outlive its test; it exits with the code null.
    const options = {
      env: { ...PROGRAM_ENVIRONMENT, ...env },
      cwd,
      timeout: LONGEST_MS,
      killSignal: 'SIGKILL',
    } as const;
    const child = execFile(process.execPath, [program, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Creates a separate folder for one test file. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'starling-cli-'));

  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const MODULES = resolve(import.meta.dirname, '../../node_modules');
const PROGRAMS = resolve(import.meta.dirname, 'programs');
const LONGEST_MS = 600_000;

/** A new folder in which tools are installed and programs are run. */
export class ToolFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'starling-generated-'));

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** Copies a file of `programs` to a place in the folder. */
  copyProgram(name: string, place: string): void {
    cpSync(join(PROGRAMS, name), join(this.path, place));
  }

  /** Runs a command. Resolves with its output, and rejects with all that it printed if it fails. */
  async run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
    const options = { cwd: this.path, timeout: LONGEST_MS, maxBuffer: 64 * 1_024 * 1_024 };
    // Tests run with options of Node.js that other programs do not know.
    const own = { ...process.env, NODE_OPTIONS: '', ...env };
    try {
      const { stdout } = await promisify(execFile)(command, args, { ...options, env: own });
      return stdout.trim();
    } catch (failed) {
      const { message, stdout, stderr } = failed as { message: string; stdout: string; stderr: string };
      throw new Error(`${command} ${args.join(' ')} failed: ${message.slice(0, 500)}\n${stdout}\n${stderr}`);
    }
  }

  /** Runs a program of an installed package of npm, such as `typescript/bin/tsc`. */
  runModule(program: string, ...args: string[]): Promise<string> {
    return this.run(process.execPath, [join(MODULES, program), ...args]);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

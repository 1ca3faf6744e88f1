import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { eventually } from '../support/eventually.js';

const COLUMNS = 160;

/** Does what a user does in a folder, and writes a page about it. */
export class Player {
  private page = '';
  private served: ChildProcess | null = null;
  /** The standard error of the program that serves; its log is left out. */
  private said = '';
  private shown = 0;

  constructor(
    public folder: string,
    /** Takes the place of Starling's usual port in files. */
    private readonly port: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** The page so far, in Markdown. */
  get text(): string {
    return this.page;
  }

  /** Adds a part of the page. */
  says(markdown: string): void {
    this.page += `${markdown.trim()}\n\n`;
  }

  /** Shows commands without their output. */
  shows(commands: string): void {
    this.fence('sh', commands);
  }

  output(text: string): void {
    this.fence('', text);
  }

  /** Runs a command on a terminal, and shows it with its output, which it returns. Rejects if it fails. */
  async runs(command: string): Promise<string> {
    this.shows(command);
    const output = await this.outputOf(command);
    this.output(output);
    return output;
  }

  /** Runs a command, and shows it without its output. Rejects if it fails. */
  async runsQuietly(command: string): Promise<void> {
    this.shows(command);
    await this.outputOf(command);
  }

  /** Returns the output of a command that the page does not show. Rejects if it fails. */
  async outputOf(command: string): Promise<string> {
    const env = { ...this.env, COMMAND: command };
    const args = ['-qec', `stty cols ${COLUMNS}; eval "$COMMAND"`, '/dev/null'];
    const child = spawn('script', args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`);
    return output.replaceAll('\r', '').trim();
  }

  /** Starts a command that runs until `stops`, and shows it with its output when it has printed `until`. */
  async serves(command: string, until: string): Promise<void> {
    this.shows(command);
    this.served = spawn('bash', ['-c', `exec ${command}`], {
      cwd: this.folder,
      env: this.env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.served.stderr!.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    await this.prints(until);
  }

  /** Writes a file, and shows it. */
  writes(file: string, language: string, content: string): void {
    this.fence(language, content);
    writeFileSync(join(this.folder, file), content.replaceAll('8344', this.port));
  }

  /** Replaces a text that is once in a file, and shows the change with the output of what serves up to `until`. */
  async changes(file: string, before: string, after: string, until: string | null = null): Promise<void> {
    const path = join(this.folder, file);
    const content = readFileSync(path, 'utf8');
    if (content.split(before).length !== 2) throw new Error(`${file} must have this text once: ${before}`);
    const changed = content.replace(before, () => after);
    this.fence('diff', difference(content, changed));
    writeFileSync(path, changed);
    if (until !== null) await this.prints(until);
  }

  /** Presses Ctrl-C in the terminal of what serves. Resolves when all its processes have ended. */
  async stops(): Promise<void> {
    if (this.served === null) return;
    const ended = once(this.served, 'close');
    process.kill(-this.served.pid!, 'SIGINT');
    await ended;
    this.served = null;
  }

  private async prints(until: string): Promise<void> {
    const isPrinted = (): boolean => /\n$/.test(this.said) && this.said.slice(this.shown).includes(until);
    await eventually(`it prints ${until}`, isPrinted, 60_000).catch((error: unknown) => {
      throw new Error(this.said, { cause: error });
    });
    this.fence('', this.said.slice(this.shown));
    this.shown = this.said.length;
  }

  private fence(language: string, text: string): void {
    this.page += `\`\`\`${language}\n${text.trim()}\n\`\`\`\n\n`;
  }
}

/** The lines that differ, where the same number of lines differs in both. */
function difference(before: string, after: string): string {
  const now = after.split('\n');
  return before
    .split('\n')
    .flatMap((line, index) => (line === now[index] ? [] : [`-${line}`, `+${now[index]}`]))
    .join('\n');
}

import type { Logger } from '../../../common/logger.js';
import { scheduler } from '../../../common/scheduler.js';
import type { Secrets } from './secrets.js';

const LONGEST_LINE = 2_000;
const MOST_LINES = 100;
const WINDOW_MS = 60_000;

/** Logs the lines that a program writes to its standard error, without secrets, and at most MOST_LINES a minute. */
export class ProgramLog {
  private line = '';
  private isCut = false;
  private windowBegan = -Infinity;
  private lines = 0;

  constructor(
    private readonly server: string,
    private readonly secrets: Secrets,
    private readonly logger: Logger,
  ) {}

  add(piece: string): void {
    const [rest, ...lines] = piece.split('\n');
    this.extend(rest!);
    for (const line of lines) {
      this.end();
      this.extend(line);
    }
  }

  /** The line ends. */
  end(): void {
    const { line, isCut } = this;
    this.line = '';
    this.isCut = false;
    if (line.trim() === '' || !this.hasRoom()) return;
    const shown = isCut ? `${this.secrets.hiddenInStart(line)}...` : this.secrets.hiddenIn(line);
    this.logger.info({ server: this.server, line: shown.trimEnd() }, 'a tool server wrote a line');
  }

  private extend(text: string): void {
    const room = LONGEST_LINE - this.line.length;
    if (text.length > room) this.isCut = true;
    this.line += text.slice(0, room);
  }

  private hasRoom(): boolean {
    const now = scheduler.elapsed();
    if (now - this.windowBegan >= WINDOW_MS) {
      this.windowBegan = now;
      this.lines = 0;
    }
    this.lines += 1;
    if (this.lines === MOST_LINES + 1)
      this.logger.warn(
        { server: this.server },
        `a tool server writes more than ${MOST_LINES} lines a minute; the others of this minute are not logged`,
      );
    return this.lines <= MOST_LINES;
  }
}

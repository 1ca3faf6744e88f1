import { once } from 'node:events';
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

import { oneLine, safeJson, safeLines } from './safe-text.js';
import { type Column, type Style, tableLines } from './table.js';

/** Columns of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/** A name and its value. A value of several lines is indented. Null if there is nothing to show. */
export type Field = readonly [name: string, value: string | number | null];

/**
 * How commands print to standard output. People on a terminal get tables and lines. A pipe or a file gets JSON: a list
 * as one document on each line, anything else as one document.
 */
export class Output {
  readonly isForPeople: boolean;

  constructor(
    isJson: boolean,
    private readonly stream: WriteStream = process.stdout,
  ) {
    this.isForPeople = stream.isTTY && !isJson;
    // The reader, such as `head`, has read enough.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit();
    });
  }

  get width(): number {
    return this.stream.columns || USUAL_COLUMNS;
  }

  /** Without a terminal, and if NO_COLOR is set, the text stays as it is. */
  readonly paint = (style: Style, text: string): string => styleText(style, text, { stream: this.stream });

  /** Prints one thing. `fields`: what people see of it. */
  thing(value: object, fields: () => Field[]): Promise<void> {
    return this.isForPeople ? this.lines(this.fieldLines(fields())) : this.json(value);
  }

  /** Prints one JSON document of several lines. */
  json(value: object): Promise<void> {
    return this.lines([safeJson(JSON.stringify(value, null, 2))]);
  }

  /** Prints JSON documents, one on each line. */
  jsonLines(values: readonly object[]): Promise<void> {
    return this.lines(values.map((value) => safeJson(JSON.stringify(value))));
  }

  /** Prints a hint for people to standard error, because scripts read standard output. */
  hint(text: string): void {
    console.error(oneLine(text));
  }

  /** `width`: longer rows are cut. */
  table<T>(items: readonly T[], columns: readonly Column<T>[], width = this.width): Promise<void> {
    return this.lines(tableLines(items, columns, { width, paint: this.paint }));
  }

  async lines(lines: readonly string[]): Promise<void> {
    if (lines.length > 0 && !this.stream.write(`${lines.join('\n')}\n`)) await once(this.stream, 'drain');
  }

  private fieldLines(fields: readonly Field[]): string[] {
    const shown = fields.filter(([, value]) => value !== null && value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    return shown.flatMap(([name, value]) => {
      const [first, ...others] = safeLines(String(value)).split('\n');
      const title = this.paint('dim', name.padEnd(width));
      return [`${title}  ${first}`, ...others.map((line) => `${' '.repeat(width)}  ${line}`)];
    });
  }
}

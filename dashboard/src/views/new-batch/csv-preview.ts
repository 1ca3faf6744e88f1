// The service reads files with the same library.
import { parse } from 'csv-parse/browser/esm/sync';

export const DELIMITERS = [
  { value: ',', text: 'comma' },
  { value: ';', text: 'semicolon' },
  { value: '\t', text: 'tab' },
  { value: '|', text: 'vertical bar' },
] as const;

export type Delimiter = (typeof DELIMITERS)[number]['value'];

/** The header and the first rows of a CSV file. */
export interface CsvPreview {
  delimiter: Delimiter;
  columns: string[];
  rows: string[][];
}

const READ_BYTES = 256 * 1_024;
const SHOWN_ROWS = 5;

/** Reads the beginning of a file. Without a delimiter, the one that makes most columns is used. */
export async function readPreview(file: File, delimiter: Delimiter | undefined): Promise<CsvPreview> {
  const text = await file.slice(0, READ_BYTES).text();
  // The last line of a part of a file may be cut.
  const lines = file.size > READ_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  const used = delimiter ?? likeliestDelimiter(lines);
  const [columns = [], ...rows] = recordsOf(lines, used, SHOWN_ROWS + 1);
  return { delimiter: used, columns, rows };
}

function likeliestDelimiter(lines: string): Delimiter {
  const columnsWith = (delimiter: Delimiter): number => {
    try {
      return recordsOf(lines, delimiter, 1)[0]?.length ?? 0;
    } catch {
      return 0;
    }
  };
  const counts = DELIMITERS.map(({ value }) => columnsWith(value));
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!.value;
}

/** Rows of a wrong length are shown as they are; the service refuses them with their line. */
const recordsOf = (lines: string, delimiter: string, most: number): string[][] =>
  parse(lines, {
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    skip_empty_lines: true,
    relax_column_count: true,
    to: most,
  });

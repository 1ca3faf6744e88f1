/** One line of the table. */
export interface Row {
  work: string;
  /** The measured value, in the unit of `atLeast` and `aim`. */
  value: number;
  /** Null if the figure is only shown. */
  atLeast: number | null;
  aim: number | null;
  better: 'higher' | 'lower';
  unit: '' | ' ms' | ' MB' | '/s';
  /** The figures behind the value. */
  measured: string;
  baseline: string;
}

export type Verdict = 'aim met' | 'met' | 'met, below aim' | 'MISSED' | '';

export function verdictOf({ value, atLeast, aim, better }: Row): Verdict {
  const reaches = (target: number): boolean => (better === 'higher' ? value >= target : value <= target);
  if (atLeast === null) return '';
  if (!reaches(atLeast)) return 'MISSED';
  if (aim === null) return 'met';
  return reaches(aim) ? 'aim met' : 'met, below aim';
}

const WHOLE = new Set<Row['unit']>([' MB', '/s']);

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => {
    const amount = (value: number | null): string =>
      value === null ? '' : value.toFixed(WHOLE.has(row.unit) ? 0 : 2) + row.unit;
    return [
      row.work,
      amount(row.atLeast),
      amount(row.aim),
      amount(row.value),
      row.measured,
      row.baseline,
      verdictOf(row),
    ];
  });
  printCells([['work', 'at least', 'aim', 'here', 'measured', 'its baseline', ''], ...cells]);
}

/** Formats the rows as Markdown; the first line is the head. */
export function printCells([head, ...lines]: readonly string[][]): void {
  const widths = head!.map((_, column) => Math.max(3, ...[head!, ...lines].map((line) => line[column]!.length)));
  const print = (line: string[], pad = ' '): void =>
    console.log(`|${line.map((cell, column) => ` ${cell.padEnd(widths[column]!, pad)} `).join('|')}|`);
  print(head!);
  print(
    head!.map(() => ''),
    '-',
  );
  lines.forEach((line) => print(line));
}

export const perSecond = (requests: number): string => `${Math.round(requests).toLocaleString('en')}/s`;
export const milliseconds = (value: number): string => `${value.toFixed(2)} ms`;

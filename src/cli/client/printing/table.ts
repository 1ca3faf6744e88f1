import stringWidth from 'string-width';

import { oneLine } from './safe-text.js';
import { cut, pad } from './texts.js';

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

/** A column of a table. */
export interface Column<T> {
  title: string;
  /** Null if the row has nothing to show. */
  of: (item: T) => string | number | null;
  style?: (item: T) => Style | null;
  isRight?: boolean;
  /** The text is prepared already, and its spaces matter. */
  isVerbatim?: boolean;
  /** Longer cells are cut, so that later columns have room. */
  most?: number;
}

export interface Look {
  /** Columns of the terminal; longer rows are cut. */
  width: number;
  paint: (style: Style, text: string) => string;
}

const GAP = '  ';

/** Titles, then rows of aligned columns; nothing without items. A column without any value is left out. */
export function tableLines<T>(items: readonly T[], columns: readonly Column<T>[], look: Look): string[] {
  const filled = columns
    .map((column) => ({ column, cells: items.map((item) => cellOf(column, item)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const widths = filled.map(({ column, cells }) =>
    [column.title, ...cells].reduce((widest, cell) => Math.max(widest, stringWidth(cell)), 0),
  );
  const row = (cells: readonly string[], styles: readonly (Style | null)[]): string => {
    let left = look.width;
    const texts = cells.map((cell, place) => {
      const { isRight } = filled[place]!.column;
      const text = cut(pad(cell, Math.min(widths[place]!, left), isRight), left);
      left -= stringWidth(text) + GAP.length;
      const style = styles[place];
      return style && text.trim() !== '' ? look.paint(style, text) : text;
    });
    return texts.join(GAP).trimEnd();
  };
  const rows = items.map((item, index) =>
    row(
      filled.map(({ cells }) => cells[index]!),
      filled.map(({ column }) => column.style?.(item) ?? null),
    ),
  );
  const titles = row(
    filled.map(({ column }) => column.title),
    filled.map(() => 'dim'),
  );
  return items.length > 0 ? [titles, ...rows] : [];
}

function cellOf<T>({ of, most = Infinity, isVerbatim }: Column<T>, item: T): string {
  const value = of(item);
  const text = value === null ? '' : String(value);
  return cut(isVerbatim ? text : oneLine(text), most);
}

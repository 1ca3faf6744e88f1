import { DomainError } from '../../common/domain-error.js';
import type { BatchDraft } from './batch-draft.js';
import type { CellType } from './cell-types.js';
import { excerpt } from './excerpt.js';
import { checkInputNames } from './input-names.js';
import type { IntakeRow } from './intake-row.js';

const MOST_COLUMNS = 1_000;
// Every row stores the names again.
const LONGEST_NAME = 200;

interface Column {
  index: number;
  /** As the header has it. */
  source: string;
  /** JSON text before the value: a brace or a comma, the input's name and a colon. */
  lead: string;
  /** `undefined` where the cell stays text. */
  type: CellType | undefined;
}

/**
 * How the rows under this header become inputs. JSON is written by hand, from parts that are the same in every row: making
 * an object of each and its text again costs twice as much. `DomainError` invalid, told of `field`, for a header that no
 * batch can have.
 */
export function csvColumns(field: string, header: readonly string[], draft: BatchDraft, types: ReadonlyMap<string, CellType>): (row: string[]) => IntakeRow {
  checkHeader(field, header);
  const mapping = draft.inputMapping && new Map(Object.entries(draft.inputMapping));
  for (const source of mapping?.keys() ?? []) checkColumn('input_mapping', header, source);
  if (draft.rowKey !== null) checkColumn('row_key', header, draft.rowKey);
  const used = header.map((source, index) => ({ index, source, name: mapping ? mapping.get(source) : source })).filter(hasName);
  checkInputNames(used);
  const columns = used.map(({ index, source, name }, place) => {
    return { index, source, lead: `${place > 0 ? ',' : '{'}${JSON.stringify(name)}:`, type: types.get(name) };
  });
  const keyIndex = draft.rowKey === null ? -1 : header.indexOf(draft.rowKey);
  return (row) => rowOf(row, columns, keyIndex < 0 ? null : row[keyIndex]!);
}

function rowOf(row: readonly string[], columns: readonly Column[], key: string | null): IntakeRow {
  let inputs = columns.length > 0 ? '' : '{';
  let problem: string | null = null;
  for (const { index, source, lead, type } of columns) {
    const cell = row[index]!;
    const converted = type ? type.convert(cell) : JSON.stringify(cell);
    // One problem is enough to mend the row by.
    if (converted === null) problem ??= `column ${source}: ${excerpt(cell)} is no ${type!.expected}`;
    inputs += lead + (converted ?? JSON.stringify(cell));
  }
  return { inputs: `${inputs}}`, problem, key };
}

const hasName = <Named extends { name: string | undefined }>(column: Named): column is Named & { name: string } => column.name !== undefined;

function checkHeader(field: string, header: readonly string[]): void {
  if (header.length > MOST_COLUMNS) {
    throw new DomainError('invalid', `${field}: the header has ${header.length} columns, and at most ${MOST_COLUMNS} are allowed`);
  }
  const seen = new Set<string>();
  for (const [index, name] of header.entries()) {
    if (name === '') throw new DomainError('invalid', `${field}: column ${index + 1} has no name in the header; give every column one`);
    if (name.length > LONGEST_NAME) {
      throw new DomainError('invalid', `${field}: the name of column ${index + 1} is longer than ${LONGEST_NAME} characters; shorten it`);
    }
    if (seen.has(name)) throw new DomainError('invalid', `${field}: the header names the column ${excerpt(name)} twice; rename one`);
    seen.add(name);
  }
}

const MOST_SHOWN = 10;

function checkColumn(option: string, header: readonly string[], name: string): void {
  if (header.includes(name)) return;
  const shown = header.slice(0, MOST_SHOWN).map(excerpt).join(', ');
  const more = header.length > MOST_SHOWN ? ` and ${header.length - MOST_SHOWN} more` : '';
  throw new DomainError('invalid', `${option}: there is no column ${excerpt(name)}; the header has ${shown}${more}`);
}

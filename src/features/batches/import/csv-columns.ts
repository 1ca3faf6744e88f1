import type { FileHandle } from 'node:fs/promises';

import type { Catalog } from '../../../catalog/catalog.js';
import { DomainError } from '../../../common/domain-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json.js';
import type { BatchDraft, ImportRow } from './import-rows.js';
import { checkInputNames, excerpt } from './input-names.js';

/** The CSV file of a batch. */
export interface CsvSource {
  /** Name of the field in messages. */
  field: string;
  file: FileHandle;
  /**
   * Whether messages may quote the content. A client that uploads a file knows it already. A client that names a file
   * on the server gets only positions and counts, so that messages do not leak its content.
   */
  quotable: boolean;
}

const MOST_COLUMNS = 1_000;
// Short, because every row stores the names.
const LONGEST_NAME = 200;
const MOST_OF_NAMES = 64 * 1_024;

interface Column {
  index: number;
  /** Name of the column in the header. */
  source: string;
  /** JSON text before the value: a brace or a comma, the name of the input and a colon. */
  lead: string;
  /** `undefined` if the cell stays text. */
  type: CellType | undefined;
}

/**
 * Returns the function that turns a row under this header into inputs. It concatenates JSON from parts that are the
 * same in every row, because creating an object and serialising it costs twice as much. Throws DomainError `invalid`,
 * which names the source's field, for an invalid header. `problemWith`: the problem of all rows with inputs of these names.
 */
export function csvColumns(
  { field, quotable }: Pick<CsvSource, 'field' | 'quotable'>,
  header: readonly string[],
  draft: Pick<BatchDraft, 'inputMapping' | 'rowKey'>,
  types: ReadonlyMap<string, CellType>,
  problemWith: (names: string[]) => string | null = () => null,
): (row: string[]) => ImportRow {
  checkHeader(field, header);
  const mapping = draft.inputMapping && new Map(Object.entries(draft.inputMapping));
  const held = quotable ? quoted(header) : `${header.length} column${header.length === 1 ? '' : 's'} with other names`;
  for (const source of mapping?.keys() ?? []) checkColumn('input_mapping', header, source, held);
  if (draft.rowKey !== null) checkColumn('row_key', header, draft.rowKey, held);
  const used = header
    .map((source, index) => ({ index, source, name: mapping ? mapping.get(source) : source }))
    .filter(hasName);
  checkInputNames(used);
  const columns = used.map(({ index, source, name }, place) => {
    return { index, source, lead: `${place > 0 ? ',' : '{'}${JSON.stringify(name)}:`, type: types.get(name) };
  });
  checkNames(field, columns);
  const keyIndex = draft.rowKey === null ? -1 : header.indexOf(draft.rowKey);
  const show = quotable ? excerpt : () => 'the value';
  const problem = problemWith(used.map(({ name }) => name));
  return (row) => rowOf(row, columns, problem, show, keyIndex < 0 ? null : row[keyIndex]!);
}

/**
 * Bounds the total length of the names. Otherwise a line of commas would become a row of two hundred times its size.
 */
function checkNames(field: string, columns: readonly Column[]): void {
  const characters = columns.reduce((sum, { lead }) => sum + lead.length, 0);
  if (characters <= MOST_OF_NAMES) return;
  throw new DomainError(
    'invalid',
    `${field}: the names of inputs take ${characters} characters, and at most ${MOST_OF_NAMES} are allowed; shorten names, or drop columns with input_mapping`,
  );
}

function rowOf(
  row: readonly string[],
  columns: readonly Column[],
  problemOfAll: string | null,
  show: (cell: string) => string,
  key: string | null,
): ImportRow {
  let inputs = columns.length > 0 ? '' : '{';
  let problem = problemOfAll;
  for (const { index, source, lead, type } of columns) {
    const cell = row[index]!;
    const converted = type ? type.convert(cell) : JSON.stringify(cell);
    // One problem is enough to correct the row.
    if (converted === null) problem ??= `column ${source}: ${show(cell)} is not a valid ${type!.expected}`;
    inputs += lead + (converted ?? JSON.stringify(cell));
  }
  return { inputs: `${inputs}}`, problem, key };
}

const hasName = <Named extends { name: string | undefined }>(column: Named): column is Named & { name: string } =>
  column.name !== undefined;

function checkHeader(field: string, header: readonly string[]): void {
  if (header.length > MOST_COLUMNS) {
    throw new DomainError(
      'invalid',
      `${field}: the header has ${header.length} columns, and at most ${MOST_COLUMNS} are allowed`,
    );
  }
  const seen = new Map<string, number>();
  for (const [index, name] of header.entries()) {
    if (name === '')
      throw new DomainError(
        'invalid',
        `${field}: column ${index + 1} has no name in the header; give every column one`,
      );
    if (name.length > LONGEST_NAME) {
      throw new DomainError(
        'invalid',
        `${field}: the name of column ${index + 1} is longer than ${LONGEST_NAME} characters; shorten it`,
      );
    }
    const other = seen.get(name);
    if (other !== undefined) {
      throw new DomainError(
        'invalid',
        `${field}: columns ${other + 1} and ${index + 1} have the same name in the header; rename one`,
      );
    }
    seen.set(name, index);
  }
}

const MOST_SHOWN = 10;

function quoted(header: readonly string[]): string {
  const shown = header.slice(0, MOST_SHOWN).map(excerpt).join(', ');
  return header.length > MOST_SHOWN ? `${shown} and ${header.length - MOST_SHOWN} more` : shown;
}

/** `held` describes the columns for the message "the header has ...". */
function checkColumn(option: string, header: readonly string[], name: string, held: string): void {
  if (header.includes(name)) return;
  throw new DomainError('invalid', `${option}: there is no column ${excerpt(name)}; the header has ${held}`);
}

/** Converts the cells of a column to JSON. */
interface CellType {
  /** Returns the cell as JSON text, or null if it has none of the types that the schema allows. */
  convert(cell: string): string | null;
  /** The allowed types, for the message "is not a valid ...". */
  expected: string;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Conversion = (cell: string) => JsonValue | undefined;

/** Conversions in the order in which they are tried. They return `undefined` if the cell does not have the type. */
const CONVERSIONS: Record<string, Conversion> = {
  null: (cell) => (cell === '' ? null : undefined),
  boolean: (cell) => BOOLEANS.get(cell.toLowerCase()),
  // A longer one would be rounded, which would change an account number.
  integer: (cell) => (Number.isSafeInteger(toNumber(cell)) ? toNumber(cell) : undefined),
  number: (cell) => (Number.isFinite(toNumber(cell)) ? toNumber(cell) : undefined),
};

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);

const toNumber = (cell: string): number => (JSON_NUMBER.test(cell) ? Number(cell) : NaN);

/**
 * Returns the inputs that are not text, according to the schema of the agent's first subscription with a single type.
 */
export function cellTypes(catalog: Catalog, agent: string): Map<string, CellType> {
  const subscription = catalog.agent(agent)?.subscriptions.find(({ types }) => types.length === 1);
  const properties = subscription && catalog.type(subscription.types[0]!)?.schema?.properties;
  if (!isJsonObject(properties)) return new Map();
  return new Map(
    Object.entries(properties).flatMap(([name, schema]) => {
      const type = isJsonObject(schema) && cellType(schema);
      return type ? [[name, type]] : [];
    }),
  );
}

function cellType({ type }: JsonObject): CellType | null {
  const types = (Array.isArray(type) ? type : [type]) as JsonValue[];
  const names = Object.keys(CONVERSIONS).filter((name) => types.includes(name));
  if (names.every((name) => name === 'null')) return null;
  const conversions = names.map((name) => CONVERSIONS[name]!);
  const isText = types.includes('string');
  return {
    expected: names.filter((name) => name !== 'null').join(' or '),
    convert: (cell) => {
      // If the schema allows strings, an empty cell is an empty string.
      if (cell === '' && isText) return '""';
      for (const conversion of conversions) {
        const value = conversion(cell);
        if (value !== undefined) return JSON.stringify(value);
      }
      return isText ? JSON.stringify(cell) : null;
    },
  };
}

import type { Catalog } from '../../../catalog/catalog.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json.js';

/** Converts the cells of a column to JSON. */
export interface CellType {
  /** Returns the cell as JSON text, or null where it has none of the types that the schema allows. */
  convert(cell: string): string | null;
  /** The allowed types, for the message "is not a valid ...". */
  expected: string;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Conversion = (cell: string) => JsonValue | undefined;

/** Conversions in the order in which they are tried. They return `undefined` where the cell does not have the type. */
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
      // Where the schema allows strings, an empty cell is an empty string.
      if (cell === '' && isText) return '""';
      for (const conversion of conversions) {
        const value = conversion(cell);
        if (value !== undefined) return JSON.stringify(value);
      }
      return isText ? JSON.stringify(cell) : null;
    },
  };
}

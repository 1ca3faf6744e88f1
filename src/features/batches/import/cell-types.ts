import type { Catalog } from '../../../catalog/catalog.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json.js';

/** How the cells of a column become JSON. */
export interface CellType {
  /** JSON text of the cell; null where it is none of the types that the schema allows. */
  convert(cell: string): string | null;
  /** Completes "is no ...". */
  expected: string;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Conversion = (cell: string) => JsonValue | undefined;

/** In the order in which they are tried. `undefined`: the cell is no such value. */
const CONVERSIONS: Record<string, Conversion> = {
  null: (cell) => (cell === '' ? null : undefined),
  boolean: (cell) => BOOLEANS.get(cell.toLowerCase()),
  // A longer one would be rounded, and an account number with it.
  integer: (cell) => (Number.isSafeInteger(toNumber(cell)) ? toNumber(cell) : undefined),
  number: (cell) => (Number.isFinite(toNumber(cell)) ? toNumber(cell) : undefined),
};

const BOOLEANS = new Map([['true', true], ['false', false]]);

const toNumber = (cell: string): number => (JSON_NUMBER.test(cell) ? Number(cell) : NaN);

/** The input names whose cells are not just text, by the schema of the first type that the agent takes alone. */
export function cellTypes(catalog: Catalog, agent: string): Map<string, CellType> {
  const subscription = catalog.agent(agent)?.subscriptions.find(({ types }) => types.length === 1);
  const properties = subscription && catalog.type(subscription.types[0]!)?.schema?.properties;
  if (!isJsonObject(properties)) return new Map();
  return new Map(Object.entries(properties).flatMap(([name, schema]) => {
    const type = isJsonObject(schema) && cellType(schema);
    return type ? [[name, type]] : [];
  }));
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
      // An empty text is a text where texts are allowed.
      if (cell === '' && isText) return '""';
      for (const conversion of conversions) {
        const value = conversion(cell);
        if (value !== undefined) return JSON.stringify(value);
      }
      return isText ? JSON.stringify(cell) : null;
    },
  };
}

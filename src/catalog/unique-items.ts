import type { DataValidateFunction, FuncKeywordDefinition } from 'ajv/dist/types/index.js';
import { canonicalJson } from '../common/canonical-json.js';
import type { JsonValue } from '../common/json.js';

/** `uniqueItems` in time in proportion to the items. Ajv's own compares each object with every other. */
export const UNIQUE_ITEMS: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  compile: (wanted: boolean) => (wanted ? areUnique : () => true),
};

const areUnique: DataValidateFunction = (items: JsonValue[]) => {
  const positions = new Map<string, number>();
  for (const [position, item] of items.entries()) {
    const name = nameOf(item);
    const same = positions.get(name);
    if (same !== undefined) {
      areUnique.errors = [{ keyword: 'uniqueItems', params: { i: position, j: same }, message: 'must NOT have duplicate items' }];
      return false;
    }
    positions.set(name, position);
  }
  return true;
};

/** The same for items that are equal. Not a bare number, whose place in a hash table a client can foresee. */
const nameOf = (item: JsonValue): string => (typeof item === 'string' ? `"${item}` : `=${canonicalJson(item)}`);

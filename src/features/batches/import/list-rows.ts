import { DomainError } from '../../../common/domain-error.js';
import type { JsonObject } from '../../../common/json.js';
import type { BatchDraft, ImportRow } from './import-rows.js';
import { checkInputNames, excerpt } from './input-names.js';
import { checkedItem, type ListedItems } from './list-body.js';

/**
 * Returns the function that turns an item of a list (JSON) into inputs. Throws DomainError `invalid` for an invalid
 * mapping.
 */
export function listRows({ inputMapping, rowKey }: BatchDraft): (item: Buffer) => ImportRow {
  const mapping = inputMapping && Object.entries(inputMapping).map(([source, name]) => ({ source, name }));
  checkInputNames(mapping ?? []);
  return (json) => {
    const item = checkedItem(json);
    return {
      inputs: JSON.stringify(mapping ? mapped(item, mapping) : item),
      problem: null,
      key: rowKey === null ? null : JSON.stringify(item[rowKey]),
    };
  };
}

/** Throws DomainError `invalid` if an item has no row key. Must run before the first row is stored. */
export async function checkRowKeys(items: ListedItems, rowKey: string | null): Promise<void> {
  if (rowKey === null) return;
  let index = 0;
  for await (const part of items.parts()) {
    for (const json of part) {
      if (!Object.hasOwn(checkedItem(json), rowKey)) {
        throw new DomainError('invalid', `row_key: batch_inputs[${index}] has no key ${excerpt(rowKey)}`);
      }
      index += 1;
    }
  }
}

const mapped = (item: JsonObject, mapping: readonly { source: string; name: string }[]): JsonObject =>
  Object.fromEntries(
    mapping.filter(({ source }) => Object.hasOwn(item, source)).map(({ source, name }) => [name, item[source]!]),
  );

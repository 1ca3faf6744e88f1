import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import type { BatchDraft } from './batch-draft.js';
import { excerpt } from './excerpt.js';
import { checkInputNames } from './input-names.js';
import type { IntakeRow } from './intake-row.js';

/** How the items of a list become inputs. DomainError `invalid` where one is no object, or lacks the row key. */
export function listRows(items: readonly JsonValue[], draft: BatchDraft): (item: JsonObject) => IntakeRow {
  const mapping = draft.inputMapping && Object.entries(draft.inputMapping).map(([source, name]) => ({ source, name }));
  checkInputNames(mapping ?? []);
  checkItems(items, draft.rowKey);
  return (item) => ({
    inputs: JSON.stringify(mapping ? mapped(item, mapping) : item),
    problem: null,
    key: draft.rowKey === null ? null : JSON.stringify(item[draft.rowKey]),
  });
}

function checkItems(items: readonly JsonValue[], rowKey: string | null): void {
  if (items.length === 0) throw new DomainError('invalid', 'batch_inputs: must not be empty');
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item)) throw new DomainError('invalid', `batch_inputs[${index}]: must be an object`);
    if (rowKey !== null && !Object.hasOwn(item, rowKey)) {
      throw new DomainError('invalid', `row_key: batch_inputs[${index}] has no key ${excerpt(rowKey)}`);
    }
  }
}

const mapped = (item: JsonObject, mapping: readonly { source: string; name: string }[]): JsonObject =>
  Object.fromEntries(mapping.filter(({ source }) => Object.hasOwn(item, source)).map(({ source, name }) => [name, item[source]!]));

import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { MOST_FILTER_VALUES } from '../../http/validation/filter-values.js';
import { toChangelogFilter } from './dto/changelog-filter-query.js';
import type { StreamRequest } from './stream-request.js';

const EXAMPLE = '{"correlation_id": "order-4711", "after": 0}, or {} for everything from now on';

/** Parses the filter, the first message of a WebSocket. Throws DomainError `invalid`, which names every bad field. */
export function readFirstMessage(text: string): StreamRequest {
  const message = parse(text);
  const problems: string[] = [];
  const given = <T>(name: string, rule: string, read: (value: unknown) => T | undefined, absent: T): T => {
    if (message[name] === undefined) return absent;
    const value = read(message[name]);
    if (value === undefined) problems.push(`${name}: ${rule}`);
    return value ?? absent;
  };
  const texts = (name: string): string[] =>
    given(name, `must be a string, or a list of at most ${MOST_FILTER_VALUES}`, readTexts, []);
  const lists = {
    correlation_id: texts('correlation_id'),
    artifact_type: texts('artifact_type'),
    produced_by: texts('produced_by'),
  };
  const options = {
    after: given<number | null>('after', 'must be a whole number of at least 0', readPosition, null),
    live: given('live', 'must be true or false', (value) => (typeof value === 'boolean' ? value : undefined), false),
  };
  if (problems.length > 0) throw new DomainError('invalid', problems.sort().join('; '));
  return { filter: toChangelogFilter(lists), ...options };
}

function parse(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(text);
    if (isJsonObject(message)) return message;
  } catch {
    // Reported below.
  }
  throw new DomainError('invalid', `The first message must be a filter, as a JSON object: ${EXAMPLE}`);
}

function readTexts(value: unknown): string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.length <= MOST_FILTER_VALUES && values.every((one) => typeof one === 'string') ? values : undefined;
}

const readPosition = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

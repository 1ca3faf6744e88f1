import { durationText, parseIsoDuration } from '../common/durations.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../common/json.js';
import { isShortText, SHORT_TEXT_RULE } from '../common/short-text.js';
import { unknownFields } from '../common/unknown-fields.js';
import type { LastingVisibility, Visibility } from './visibility.js';

/** Agents or labels that one visibility object can name. */
export const MAX_VISIBILITY_NAMES = 1_000;

const LASTING_KINDS = ['Public', 'Private', 'Labelled', 'Tenant'];

const FIELDS_OF_KIND: Readonly<Record<Visibility['kind'], readonly string[]>> = {
  Public: ['kind'],
  Private: ['kind', 'agents'],
  Labelled: ['kind', 'required_labels'],
  Tenant: ['kind', 'tenant_id'],
  After: ['kind', 'ttl', 'then'],
};

/** What is wrong with a visibility object that came in a request or an answer; null where it is one. */
export function visibilityMistake(value: unknown): string | null {
  if (!isJsonObject(value)) return 'must be an object';
  if (value['kind'] !== 'After') return lastingMistake(value, '', [...LASTING_KINDS, 'After']);
  const unknown = unknownMistake(value, 'After', '');
  if (unknown !== null) return unknown;
  if (typeof value['ttl'] !== 'string' || parseIsoDuration(value['ttl']) === null) return 'ttl must be an ISO 8601 duration, such as PT1H';
  const then = value['then'] ?? null;
  if (then === null) return null;
  return isJsonObject(then) ? lastingMistake(then, 'then.', LASTING_KINDS) : 'then must be an object';
}

/** Why a `ttl` of the right form is too long for this service; null where it is not. */
export function ttlMistake(visibility: Visibility, maxTtlMs: number): string | null {
  if (visibility.kind !== 'After' || (parseIsoDuration(visibility.ttl) ?? 0) <= maxTtlMs) return null;
  return `ttl must be at most ${durationText(maxTtlMs)}, which max_ttl says`;
}

function lastingMistake(value: JsonObject, path: string, kinds: string[]): string | null {
  const { kind } = value as { kind: LastingVisibility['kind'] };
  const unknown = LASTING_KINDS.includes(kind) ? unknownMistake(value, kind, path) : null;
  if (unknown !== null) return unknown;
  switch (kind) {
    case 'Public':
      return null;
    case 'Private':
      return namesMistake(value['agents'], `${path}agents`);
    case 'Labelled':
      return namesMistake(value['required_labels'], `${path}required_labels`);
    case 'Tenant':
      return (value['tenant_id'] ?? null) === null || isShortText(value['tenant_id'])
        ? null
        : `${path}tenant_id must be null or ${SHORT_TEXT_RULE}`;
    default:
      return `${path}kind must be one of ${kinds.join(', ')}`;
  }
}

/** Told before what the kind requires: a misspelled `agents` is not missing. */
function unknownMistake(value: JsonObject, kind: Visibility['kind'], path: string): string | null {
  const [unknown] = unknownFields(value, FIELDS_OF_KIND[kind], `a known field of ${kind}`);
  return unknown ? `${path}${unknown.name} ${unknown.problem}` : null;
}

const namesMistake = (value: JsonValue | undefined, path: string): string | null =>
  Array.isArray(value) && value.length <= MAX_VISIBILITY_NAMES && value.every(isShortText)
    ? null
    : `${path} must be a list of at most ${MAX_VISIBILITY_NAMES} names, each ${SHORT_TEXT_RULE}`;

/** What is stored of a visibility object without mistakes: the fields of its kind. */
export function toVisibility(value: JsonObject): Visibility {
  if (value['kind'] !== 'After') return toLasting(value);
  const then = value['then'] as JsonObject | null | undefined;
  return { kind: 'After', ttl: value['ttl'] as string, ...(then && { then: toLasting(then) }) };
}

function toLasting(value: JsonObject): LastingVisibility {
  const { kind } = value as { kind: LastingVisibility['kind'] };
  switch (kind) {
    case 'Public':
      return { kind };
    case 'Private':
      return { kind, agents: value['agents'] as string[] };
    case 'Labelled':
      return { kind, required_labels: value['required_labels'] as string[] };
    case 'Tenant':
      return { kind, tenant_id: (value['tenant_id'] as string | null | undefined) ?? null };
  }
}

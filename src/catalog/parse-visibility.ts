import { isJsonObject, type JsonObject, type JsonValue } from '../common/json.js';
import { unknownFields } from '../common/names-in-messages.js';
import { isShortText, SHORT_TEXT_RULE } from '../common/short-text.js';
import { durationText, isoDurationText, parseDuration } from '../common/units.js';
import type { LastingVisibility, Visibility } from './visibility.js';

/** Maximum number of agents or labels in one visibility object. */
export const MAX_VISIBILITY_NAMES = 1_000;

const LASTING_KINDS = ['Public', 'Private', 'Labelled', 'Tenant'];

export const VISIBILITY_KINDS: readonly string[] = [...LASTING_KINDS, 'After'];

const FIELDS_OF_KIND: Readonly<Record<Visibility['kind'], readonly string[]>> = {
  Public: ['kind'],
  Private: ['kind', 'agents'],
  Labelled: ['kind', 'required_labels'],
  Tenant: ['kind', 'tenant_id'],
  After: ['kind', 'ttl', 'then'],
};

export interface VisibilityProblem {
  /** The path inside the object. */
  path: string[];
  message: string;
}

/**
 * Returns what is wrong with a visibility object in a request, an answer or the configuration, or null. Everything that
 * would show an artifact to more agents than its publisher intended is refused: an unknown field, an empty list of
 * labels, a missing tenant.
 */
export function findVisibilityProblem(value: unknown): VisibilityProblem | null {
  if (!isJsonObject(value)) return problemAt([], 'must be an object');
  if (value['kind'] !== 'After') return lastingProblem(value, [], VISIBILITY_KINDS);
  const then = value['then'] ?? null;
  return (
    unknownProblem(value, 'After', []) ?? durationProblem(value['ttl']) ?? (then === null ? null : thenProblem(then))
  );
}

/** Returns the problem if an otherwise valid `ttl` exceeds `max_ttl`, or null. */
export function findTtlProblem(visibility: Visibility, maxTtlMs: number): VisibilityProblem | null {
  if (visibility.kind !== 'After' || (parseDuration(visibility.ttl) ?? Infinity) <= maxTtlMs) return null;
  return problemAt(['ttl'], `must be at most ${durationText(maxTtlMs)} (max_ttl)`);
}

/** One string, with the path first. */
export const describeVisibilityProblem = ({ path, message }: VisibilityProblem): string =>
  path.length > 0 ? `${path.join('.')} ${message}` : message;

function durationProblem(ttl: JsonValue | undefined): VisibilityProblem | null {
  const milliseconds = typeof ttl === 'string' ? parseDuration(ttl) : null;
  if (milliseconds === null)
    return problemAt(['ttl'], 'must be a duration such as 30m, PT1H or P2D (without years or months)');
  return milliseconds > 0
    ? null
    : problemAt(['ttl'], 'must be at least one millisecond; for no delay, use the visibility in then directly');
}

const thenProblem = (then: JsonValue): VisibilityProblem | null =>
  isJsonObject(then) ? lastingProblem(then, ['then'], LASTING_KINDS) : problemAt(['then'], 'must be an object');

function lastingProblem(value: JsonObject, path: string[], kinds: readonly string[]): VisibilityProblem | null {
  const { kind } = value as { kind: LastingVisibility['kind'] };
  if (!LASTING_KINDS.includes(kind)) return problemAt([...path, 'kind'], `must be one of ${kinds.join(', ')}`);
  return unknownProblem(value, kind, path) ?? fieldProblem(value, kind, path);
}

function fieldProblem(value: JsonObject, kind: LastingVisibility['kind'], path: string[]): VisibilityProblem | null {
  switch (kind) {
    case 'Public':
      return null;
    case 'Private':
      return namesProblem(value['agents'], 0, [...path, 'agents']);
    case 'Labelled':
      return namesProblem(value['required_labels'], 1, [...path, 'required_labels']);
    case 'Tenant':
      return value['tenant_id'] === null || isShortText(value['tenant_id'])
        ? null
        : problemAt([...path, 'tenant_id'], `must be null (all agents) or ${SHORT_TEXT_RULE}`);
  }
}

/** Reported before missing fields, because a misspelled `agents` is not missing. */
function unknownProblem(value: JsonObject, kind: Visibility['kind'], path: string[]): VisibilityProblem | null {
  const [unknown] = unknownFields(value, FIELDS_OF_KIND[kind], `a known field of ${kind}`);
  return unknown ? problemAt([...path, unknown.name], unknown.problem) : null;
}

const namesProblem = (value: JsonValue | undefined, least: number, path: string[]): VisibilityProblem | null =>
  Array.isArray(value) && value.length >= least && value.length <= MAX_VISIBILITY_NAMES && value.every(isShortText)
    ? null
    : problemAt(
        path,
        `must be a list of ${least === 0 ? 'at most' : `${least} to`} ${MAX_VISIBILITY_NAMES} names, each ${SHORT_TEXT_RULE}`,
      );

const problemAt = (path: string[], message: string): VisibilityProblem => ({ path, message });

/** Returns the stored form of a valid visibility object. */
export function toVisibility(value: JsonObject): Visibility {
  if (value['kind'] !== 'After') return toLasting(value);
  const then = value['then'] as JsonObject | null | undefined;
  return { kind: 'After', ttl: isoDuration(value['ttl'] as string), ...(then && { then: toLasting(then) }) };
}

/** Clients, and processes of earlier versions, know only ISO 8601. */
const isoDuration = (ttl: string): string => (ttl.startsWith('P') ? ttl : isoDurationText(parseDuration(ttl)!));

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
      return { kind, tenant_id: value['tenant_id'] as string | null };
  }
}

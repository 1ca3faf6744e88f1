import type { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import type { EvaluationResult } from '../../cel/language/expression-program.js';
import type { JsonValue } from '../../common/json.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { canSee } from '../artifacts/visibility-rules.js';
import type { QueueValues } from './queue-values.js';

/** The result of matching an artifact against a subscription. */
export type Verdict =
  | {
      kind: 'triggered';
      subscription: Subscription;
      key: string;
      /** The execution is queued with these, if the artifact alone decides them. */
      queueValues?: QueueValues;
    }
  | { kind: Refusal; subscription: Subscription }
  | { kind: 'where_error' | 'key_error'; subscription: Subscription; message: string };

export type Refusal = 'type' | 'producer' | 'tag' | 'visibility' | 'own_output' | 'where_false' | 'key_null';

export type Triggered = Extract<Verdict, { kind: 'triggered' }>;

/** The input of matching: the artifact as agents see it, its visibility, and when it was created (epoch ms). */
export interface Matchable {
  artifact: AgentArtifact;
  visibility: Visibility;
  createdAt: number;
}

/** Why a subscription refuses an artifact before any expression is evaluated; null if it does not refuse. */
export function refusal(
  subscription: Subscription,
  matchable: Matchable,
  catalog: Catalog,
  now: number,
): Refusal | null {
  const { artifact, visibility, createdAt } = matchable;
  const { types, fromAgents, tags } = subscription;
  if (!types.includes(artifact.type)) return 'type';
  if (artifact.produced_by === subscription.agent && !subscription.allowSelf) return 'own_output';
  if (fromAgents.length > 0 && !fromAgents.includes(artifact.produced_by)) return 'producer';
  if (tags.length > 0 && !tags.some((tag) => artifact.tags.includes(tag))) return 'tag';
  if (!canSee(catalog.agent(subscription.agent)!, visibility, createdAt, now)) return 'visibility';
  return null;
}

/** A subscription that waits for one artifact of each of several types. */
export const isJoin = (subscription: Subscription): boolean =>
  subscription.mode === 'all' && subscription.types.length > 1;

/** Whether artifacts wait in a window of the subscription: until there are enough, or until no other one comes. */
export const hasWindow = ({ batch, debounce }: Subscription): boolean => batch !== null || debounce !== null;

/** Whether artifacts wait for others before they trigger. */
export const gathers = (subscription: Subscription): boolean => hasWindow(subscription) || isJoin(subscription);

/** A join's members in the order of `types`, for its agent and its `where`. The order of arrival does not matter. */
export const inOrderOfTypes = <Member extends { type: string }>(
  { types }: Subscription,
  members: readonly Member[],
): Member[] => types.flatMap((type) => members.filter((member) => member.type === type));

/**
 * The predicate that is evaluated for each artifact; null for a join, whose `where` is evaluated for the completed
 * group.
 */
export const artifactPredicate = (subscription: Subscription): string | null =>
  isJoin(subscription) ? null : subscription.where;

/** The expression that computes the key by which artifacts gather, and its place in the subscription. Null without one. */
export function keyExpression(subscription: Subscription): { source: string; place: string } | null {
  const { join, batch, debounce } = subscription;
  if (batch) return batch.key === null ? null : { source: batch.key, place: 'batch.key' };
  if (debounce) return debounce.key === null ? null : { source: debounce.key, place: 'debounce.key' };
  if (!isJoin(subscription) || !join || join.by === null) return null;
  return { source: join.by, place: 'join.by' };
}

/** Interprets the result of a predicate. Only true triggers. */
export function predicateVerdict(
  result: EvaluationResult,
): { kind: 'true' | 'where_false' } | { kind: 'where_error'; message: string } {
  if (!result.ok) return { kind: 'where_error', message: result.error };
  if (typeof result.value !== 'boolean') {
    // The message names the type but not the value, which may quote a payload.
    const type = result.value === null ? 'null' : typeof result.value;
    return {
      kind: 'where_error',
      message: `must give true or false, not ${type === 'object' ? 'a list or map' : type}`,
    };
  }
  return { kind: result.value ? 'true' : 'where_false' };
}

/** The verdict of a subscription without a refusal, from the results of its expressions (null if it has none). */
export function verdict(
  subscription: Subscription,
  matchable: Matchable,
  where: EvaluationResult | null,
  key: EvaluationResult | null,
): Verdict {
  if (where) {
    const judged = predicateVerdict(where);
    if (judged.kind === 'where_error') return { kind: judged.kind, subscription, message: judged.message };
    if (judged.kind === 'where_false') return { kind: judged.kind, subscription };
  }
  if (!key) return { kind: 'triggered', subscription, key: groupKey(matchable.artifact.correlation_id) };
  if (!key.ok) return { kind: 'key_error', subscription, message: key.error };
  if (key.value === null) return { kind: 'key_null', subscription };
  return { kind: 'triggered', subscription, key: groupKey(key.value) };
}

const groupKey = (value: JsonValue): string => JSON.stringify(value);

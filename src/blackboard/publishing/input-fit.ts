import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { NamedInput } from './invocations.js';
import { isJoin } from '../matching/matcher.js';

/**
 * The first subscription of the agent that inputs of these types fit: one of each type for a join, any number for a batch
 * window, else one. Predicates, producers, tags and windows are not asked: the caller chose the agent. DomainError
 * `invalid` where none fits.
 */
export function fittingSubscription(agent: AgentDefinition, types: readonly string[]): Subscription {
  const fitting = agent.subscriptions.find((subscription) => fits(subscription, types));
  if (fitting) return fitting;
  const wanted = agent.subscriptions.map(describe).join('; or ');
  throw new DomainError('invalid', `inputs: ${agent.name} takes ${wanted || 'no inputs'} (got ${show(types)})`);
}

/** A caller may name a type of a megabyte, or thousands of them. */
const LONGEST_LIST = 300;

function show(types: readonly string[]): string {
  const text = types.join(', ');
  return text.length > LONGEST_LIST ? `${text.slice(0, LONGEST_LIST)}...` : text || 'none';
}

function fits(subscription: Subscription, types: readonly string[]): boolean {
  if (types.length === 0 || types.some((type) => !subscription.types.includes(type))) return false;
  if (subscription.batch) return true;
  if (isJoin(subscription)) return types.length === subscription.types.length && new Set(types).size === types.length;
  return types.length === 1;
}

function describe(subscription: Subscription): string {
  if (subscription.batch) return `any number of ${subscription.types.join(' or ')}`;
  return isJoin(subscription) ? `one each of ${subscription.types.join(' and ')}` : `one ${subscription.types.join(' or ')}`;
}

/**
 * The inputs of a run (wire-decisions.md, "Interface A"): the payload itself for a subscription with one type, else an object
 * keyed by type name, with every type for `all` and one of them for `any`. The first subscription that they fit, and what
 * they are in it. DomainError `invalid` where they fit none.
 */
export function namedInputs(agent: AgentDefinition, inputs: JsonObject): { subscription: Subscription; named: NamedInput[] } {
  const subscription = agent.subscriptions.find((candidate) => fitsRun(candidate, inputs));
  if (!subscription) {
    const wanted = agent.subscriptions.map(describeRun).join('; or ');
    throw new DomainError('invalid', `inputs: ${agent.name} takes ${wanted || 'no inputs'} (got ${show(Object.keys(inputs))})`);
  }
  const { types } = subscription;
  if (types.length === 1) return { subscription, named: [{ type: types[0]!, payload: inputs, path: 'inputs' }] };
  const given = types.filter((type) => Object.hasOwn(inputs, type));
  return { subscription, named: given.map((type) => ({ type, payload: inputs[type] as JsonObject, path: `inputs.${type}` })) };
}

function fitsRun({ types, mode }: Subscription, inputs: JsonObject): boolean {
  if (types.length === 1) return true;
  const names = Object.keys(inputs);
  if (names.some((name) => !types.includes(name) || !isJsonObject(inputs[name]))) return false;
  return names.length === (mode === 'all' ? types.length : 1);
}

function describeRun({ types, mode }: Subscription): string {
  if (types.length === 1) return `the payload of ${types[0]}`;
  return `an object with ${mode === 'all' ? types.join(' and ') : `one of ${types.join(', ')}`} as its ${mode === 'all' ? 'keys' : 'key'}`;
}

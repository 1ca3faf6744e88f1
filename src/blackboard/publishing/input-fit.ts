import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import type { Path } from '../../catalog/diagnostics.js';
import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { isJoin } from '../matching/matcher.js';

export interface NamedInput {
  type: string;
  payload: JsonObject;
  /** The place of the payload in the request, for messages. */
  place: Path;
}

/**
 * Returns the agent's first subscription that accepts inputs of these types: one of each type for a join, any number
 * for a batch window, otherwise exactly one. Predicates, producers, tags and windows are ignored, because the caller
 * chose the agent. DomainError `invalid` if no subscription accepts them.
 */
export function fittingSubscription(agent: AgentDefinition, types: readonly string[]): Subscription {
  const fitting = agent.subscriptions.find((subscription) => fits(subscription, types));
  if (fitting) return fitting;
  const wanted = agent.subscriptions.map(describe).join('; or ');
  throw new DomainError('invalid', `inputs: ${agent.name} takes ${wanted || 'no inputs'} (got ${show(types)})`);
}

/** Characters. A caller may send a type name of a megabyte, or thousands of types. */
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
  return isJoin(subscription)
    ? `one each of ${subscription.types.join(' and ')}`
    : `one ${subscription.types.join(' or ')}`;
}

/**
 * Returns the agent's first subscription that accepts the inputs of a run, and these inputs by type (docs/api.md, "Run
 * a workflow"). For a subscription with one type the inputs are the payload itself, otherwise an object keyed by type
 * name, with every type for `all` and one of them for `any`. DomainError `invalid` if no subscription accepts them.
 */
export function namedInputs(
  agent: AgentDefinition,
  inputs: JsonObject,
): { subscription: Subscription; named: NamedInput[] } {
  const named = agent.subscriptions.filter((candidate) => hasNames(candidate, Object.keys(inputs)));
  const subscription = named.find((candidate) => fitsRun(candidate, inputs));
  if (!subscription) {
    const noObject = Object.keys(inputs).find((name) => !isJsonObject(inputs[name]));
    if (named.length > 0 && noObject !== undefined)
      throw new DomainError('invalid', `inputs.${noObject}: must be an object, the payload of ${noObject}`);
    throw new DomainError('invalid', `${takes(agent)} (got ${show(Object.keys(inputs))})`);
  }
  const { types } = subscription;
  if (types.length === 1) return { subscription, named: [{ type: types[0]!, payload: inputs, place: ['inputs'] }] };
  const given = types.filter((type) => Object.hasOwn(inputs, type));
  return {
    subscription,
    named: given.map((type) => ({ type, payload: inputs[type] as JsonObject, place: ['inputs', type] })),
  };
}

const fitsRun = ({ types }: Subscription, inputs: JsonObject): boolean =>
  types.length === 1 || Object.values(inputs).every(isJsonObject);

/** Returns why `namedInputs` refuses inputs with these names, without quoting them; null if it accepts them. */
export const namesProblem = (agent: AgentDefinition, names: readonly string[]): string | null =>
  agent.subscriptions.some((candidate) => hasNames(candidate, names)) ? null : takes(agent);

function takes({ name, subscriptions }: AgentDefinition): string {
  return `inputs: ${name} takes ${subscriptions.map(describeRun).join('; or ') || 'no inputs'}`;
}

function hasNames({ types, mode }: Subscription, names: readonly string[]): boolean {
  if (types.length === 1) return true;
  return names.every((name) => types.includes(name)) && names.length === (mode === 'all' ? types.length : 1);
}

function describeRun({ types, mode }: Subscription): string {
  if (types.length === 1) return `the payload of ${types[0]}`;
  return `an object with ${mode === 'all' ? types.join(' and ') : `one of ${types.join(', ')}`} as its ${mode === 'all' ? 'keys' : 'key'}`;
}

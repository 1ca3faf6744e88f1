import type { AgentDefinition, Subscription } from '../catalog/definitions.js';
import { DomainError } from '../common/domain-error.js';
import { isJoin } from './matcher.js';

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

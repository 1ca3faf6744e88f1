import { EXTERNAL, WORKFLOW_ERROR, type AgentDefinition, type Subscription } from './definitions.js';

/**
 * Whether `subscription` takes artifacts of `type` that `producer` publishes, as far as the configuration alone tells:
 * predicates and visibility are not asked.
 */
export function takesFrom(subscription: Subscription, type: string, producer: AgentDefinition): boolean {
  if (producer.name === subscription.agent && !subscription.allowSelf) return false;
  if (!asksFor(subscription.fromAgents, [producer.name])) return false;
  // Any agent may fail.
  if (type === WORKFLOW_ERROR) return subscription.tags.length === 0;
  return producer.outputs.some((output) => output.type === type && asksFor(subscription.tags, output.tags));
}

/** Whether a client could publish an artifact of `type` that `subscription` takes. */
export const takesFromClients = (subscription: Subscription, type: string): boolean =>
  type !== WORKFLOW_ERROR && asksFor(subscription.fromAgents, [EXTERNAL]);

const asksFor = (wanted: readonly string[], given: readonly string[]): boolean =>
  wanted.length === 0 || given.some((name) => wanted.includes(name));

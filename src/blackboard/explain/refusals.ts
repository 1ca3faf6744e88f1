import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import type { LastingVisibility, Visibility } from '../../catalog/visibility.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { listed } from '../../common/names-in-messages.js';
import { hasWindow, keyExpression, type Matchable, type Verdict } from '../matching/matcher.js';
import type { Explanation } from './explanation.js';

export type Refused = Exclude<Verdict, { kind: 'triggered' }>;

/**
 * The matcher's verdict with a sentence for people. It quotes neither the payload nor an expression, since both may
 * contain a secret.
 */
export const refused = (verdict: Refused, matchable: Matchable, agent: AgentDefinition): Explanation => ({
  agent: agent.name,
  subscription: verdict.subscription.index,
  verdict: verdict.kind,
  detail: SENTENCES[verdict.kind](verdict.subscription, matchable, agent, 'message' in verdict ? verdict.message : ''),
});

type Sentence = (subscription: Subscription, matchable: Matchable, agent: AgentDefinition, message: string) => string;

const SENTENCES: Record<Refused['kind'], Sentence> = {
  type: ({ types }, { artifact }) =>
    `The subscription takes ${listed(types, 'and')}, and this artifact has the type ${artifact.type}.`,
  own_output: (_, __, { name }) => `${name} published it itself, and the subscription does not set allow_self: true.`,
  producer: ({ fromAgents }, { artifact }) =>
    `from_agents accepts ${listed(fromAgents, 'or')}, and ${artifact.produced_by} published this artifact.`,
  tag: ({ tags }, { artifact }) =>
    `tags accepts ${listed(tags, 'or')}, and this artifact has ${artifact.tags.length === 0 ? 'no tags' : `only ${listed(artifact.tags, 'and')}`}.`,
  visibility: (_, { visibility }, agent) => `${agent.name} may not see it: ${whySeen(visibility, agent)}.`,
  where_false: () => 'where is false for this artifact.',
  where_error: (_, __, ___, message) => `where failed for this artifact, so it does not trigger the agent: ${message}`,
  key_null: (subscription) =>
    `${keyExpression(subscription)!.place} is null for this artifact, so it joins no ${gathering(subscription)}.`,
  key_error: (subscription, _, __, message) =>
    `${keyExpression(subscription)!.place} failed for this artifact, so it joins no ${gathering(subscription)}: ${message}`,
};

const gathering = (subscription: Subscription): string => (hasWindow(subscription) ? 'window' : 'group');

/** Says which agents may see the artifact, as the end of a sentence. */
export const whySeen = (visibility: Visibility, agent: AgentDefinition): string =>
  seenBy(visibility.kind === 'After' ? (visibility.then ?? PUBLIC) : visibility, agent);

function seenBy(visibility: LastingVisibility, agent: AgentDefinition): string {
  switch (visibility.kind) {
    case 'Public':
      return 'it is public';
    case 'Private':
      return `it is visible ${visibility.agents.length === 0 ? 'to no agent' : `only to ${listed(visibility.agents, 'and')}`}`;
    case 'Labelled':
      return `it requires the labels ${listed(visibility.required_labels, 'and')}, and the agent has ${agent.labels.length === 0 ? 'none' : `only ${listed(agent.labels, 'and')}`}`;
    case 'Tenant':
      return `it is for the tenant ${visibility.tenant_id}, and the agent's tenant is ${agent.tenantId === null ? 'not set' : agent.tenantId}`;
  }
}

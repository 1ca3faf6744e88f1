import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import type { LastingVisibility } from '../../catalog/visibility.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { listed } from '../../common/listed.js';
import type { Matchable, Verdict } from '../matching/matcher.js';
import type { Explanation } from './explanation.js';

export type Refused = Exclude<Verdict, { kind: 'triggered' }>;

/** The matcher's verdict with a sentence for people. It quotes neither the payload nor an expression, which may hold a secret. */
export const refused = (verdict: Refused, matchable: Matchable, agent: AgentDefinition): Explanation => ({
  agent: agent.name,
  subscription: verdict.subscription.index,
  verdict: verdict.kind,
  detail: SENTENCES[verdict.kind](verdict.subscription, matchable, agent, 'message' in verdict ? verdict.message : ''),
});

type Sentence = (subscription: Subscription, matchable: Matchable, agent: AgentDefinition, message: string) => string;

const SENTENCES: Record<Refused['kind'], Sentence> = {
  type: ({ types }, { artifact }) => `It asks for ${listed(types, 'and')}, and this is of the type ${artifact.type}.`,
  own_output: (_, __, { name }) => `${name} published it itself, and the subscription does not say allow_self: true.`,
  producer: ({ fromAgents }, { artifact }) => `from_agents asks for ${listed(fromAgents, 'or')}, and this was published by ${artifact.produced_by}.`,
  tag: ({ tags }, { artifact }) =>
    `tags asks for ${listed(tags, 'or')}, and this has ${artifact.tags.length === 0 ? 'no tags' : `only ${listed(artifact.tags, 'and')}`}.`,
  visibility: (_, { visibility }, agent) =>
    `${agent.name} may not see it: ${seenBy(visibility.kind === 'After' ? (visibility.then ?? PUBLIC) : visibility, agent)}.`,
  where_false: () => 'where is false for it.',
  where_error: (_, __, ___, message) => `where errs for it, and what errs does not trigger: ${message}`,
  key_null: () => 'join.by gives null for it, and what has no key joins nothing.',
  key_error: (_, __, ___, message) => `join.by errs for it, and what has no key joins nothing: ${message}`,
};

function seenBy(visibility: LastingVisibility, agent: AgentDefinition): string {
  switch (visibility.kind) {
    case 'Public':
      return 'it is public';
    case 'Private':
      return `it is for ${visibility.agents.length === 0 ? 'no agent' : listed(visibility.agents, 'and')} alone`;
    case 'Labelled':
      return `it asks for the labels ${listed(visibility.required_labels, 'and')}, and the agent has ${agent.labels.length === 0 ? 'none' : listed(agent.labels, 'and')}`;
    case 'Tenant':
      return `it is for the tenant ${visibility.tenant_id}, and the agent is of ${agent.tenantId === null ? 'none' : agent.tenantId}`;
  }
}

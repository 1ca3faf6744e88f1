import type { HistoryOfVariant } from '../../blackboard/queries/variant-history.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, BreakerRule, Subscription } from '../../catalog/definitions.js';
import { type Variants, WHOLE } from '../../catalog/variants.js';
import { toTimestamp } from '../../common/timestamp.js';
import { modelOf } from '../../engines/llm/llm-options.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { AgentOptionsBody } from './dto/agent-options-body.js';
import type { AgentBody, BreakerBody, SubscriptionBody, VariantsBody } from './dto/agents-body.js';
import type { VariantHistoryBody } from './dto/history-body.js';

/** It leaves out URLs, commands, headers and instructions, because they may contain secrets. */
export function agentBody(
  agent: AgentDefinition,
  catalog: Pick<Catalog, 'definitions' | 'configurationsOf'>,
  {
    openBreakers,
    rolledBack,
    ...now
  }: Pick<AgentBody, 'paused' | 'waiting'> & {
    openBreakers: number;
    /** Variant → since when it is rolled back (epoch ms). */
    rolledBack: ReadonlyMap<string, number>;
  },
): AgentBody {
  const { name, description, subscriptions, outputs, breaker, variants, engine } = agent;
  const configurations = catalog.configurationsOf(name);
  return {
    name,
    description,
    subscriptions: subscriptions.map(subscriptionBody),
    outputs: [...new Set(outputs.map(({ type }) => type))],
    ...now,
    ...(breaker && { breaker: breakerBody(breaker, openBreakers) }),
    ...(variants && { variants: variantsBody(variants, rolledBack) }),
    definition: catalog.definitions.get(name)?.digest ?? null,
    ...(configurations.length > 0 && { configurations }),
    engine: { kind: engine.kind, model: modelOf(agent) },
    options: optionsBody(agent),
  };
}

const subscriptionBody = ({ types, mode, priority, priorityBy, batch, debounce }: Subscription): SubscriptionBody => ({
  types,
  mode,
  priority: priorityBy === null ? priority : null,
  ...(debounce && { debounce: { wait_ms: debounce.waitMs, at_most_ms: debounce.atMostMs, key: debounce.key } }),
  ...(batch && { window: { size: batch.size, timeout_ms: batch.timeoutMs, key: batch.key } }),
});

const breakerBody = ({ failures, of, openMs, key }: BreakerRule, open: number): BreakerBody => ({
  failures,
  of,
  open_ms: openMs,
  key,
  open,
});

const variantsBody = ({ all, rollback }: Variants, rolledBack: ReadonlyMap<string, number>): VariantsBody => ({
  items: all.map(({ name, share }) => ({
    name,
    share: share / WHOLE,
    rolled_back_at: rolledBack.has(name) ? toTimestamp(rolledBack.get(name)!) : null,
  })),
  rollback,
});

export const variantHistoryBody = ({ usage, ...history }: HistoryOfVariant): VariantHistoryBody => ({
  ...history,
  ...usageField(usage),
});

const optionsBody = (agent: AgentDefinition): AgentOptionsBody => ({
  timeout_ms: agent.timeoutMs,
  concurrency: agent.concurrency,
  retry: {
    attempts: agent.retry.attempts,
    delay_ms: agent.retry.delayMs,
    max_delay_ms: agent.retry.maxDelayMs,
  },
  budget: agent.budget ?? { tokens: null, cost: null },
  labels: agent.labels,
  tenant_id: agent.tenantId,
});

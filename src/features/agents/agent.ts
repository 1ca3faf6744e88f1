import type { AgentDefinition, BreakerRule, Subscription } from '../../catalog/definitions.js';
import { modelOf } from '../../engines/llm/llm-options.js';
import type { AgentOptionsBody } from './dto/agent-options-body.js';
import type { AgentBody, BreakerBody, SubscriptionBody } from './dto/agents-body.js';

/** It leaves out URLs, commands, headers and instructions, because they may contain secrets. */
export const agentBody = (
  agent: AgentDefinition,
  { openBreakers, ...now }: Pick<AgentBody, 'paused' | 'waiting'> & { openBreakers: number },
): AgentBody => ({
  name: agent.name,
  description: agent.description,
  subscriptions: agent.subscriptions.map(subscriptionBody),
  outputs: [...new Set(agent.outputs.map(({ type }) => type))],
  ...now,
  ...(agent.breaker && { breaker: breakerBody(agent.breaker, openBreakers) }),
  engine: { kind: agent.engine.kind, model: modelOf(agent) },
  options: optionsBody(agent),
});

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

import type { JsonObject } from '../../common/json.js';
import { parseDuration } from '../../common/units.js';
import type { AgentOptions, OutputOptions, RampOptions, Remaining, SubscriptionOptions } from '../agent-options.js';
import { defineBudget } from '../costs.js';
import {
  type AgentDefinition,
  type BreakerRule,
  type CacheRule,
  type CancelRule,
  type Fairness,
  MAX_BATCH_SIZE,
  type Output,
  type RetryPolicy,
  type SingletonRule,
  type Subscription,
} from '../definitions.js';
import { defineLimitUses } from '../limits.js';
import { overrideIn } from '../override-options.js';
import { findVisibilityProblem, toVisibility } from '../parse-visibility.js';
import { digestOfVariants, partsOf, type RollbackRule, type Variants } from '../variants.js';
import { PUBLIC } from '../visibility.js';

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_CONCURRENCY = 10;
const DEFAULT_SHARE = 0.5;
const DEFAULT_RETRY: RetryPolicy = { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 };

/** Makes the agent definition with every default filled in (docs/agents.md, "The configuration file"). */
export function defineAgent(
  name: string,
  options: Remaining<AgentOptions & RampOptions>,
  engine: AgentDefinition['engine'],
  limitKeys: ReadonlyMap<string, string | null>,
): AgentDefinition {
  return {
    name,
    description: options.description ?? '',
    labels: present(options.labels),
    tenantId: options.tenant_id ?? null,
    // Invalid subscriptions keep their position, so that an index still leads to the place in the file.
    subscriptions: (options.consumes ?? []).map((subscription, index) =>
      defineSubscription(name, index, subscription ?? {}),
    ),
    outputs: present(options.publishes).flatMap((output) =>
      output.type === undefined ? [] : [defineOutput(output.type, output)],
    ),
    engine,
    timeoutMs: milliseconds(options.timeout) ?? DEFAULT_TIMEOUT_MS,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    retry: defineRetry(options.retry ?? {}),
    budget: defineBudget(options.budget),
    limits: defineLimitUses(options.limits, limitKeys),
    fairness: defineFairness(options),
    cancelOn: defineCancelRule(options.cancel_on),
    cache: defineCacheRule(options.cache),
    singleton: defineSingletonRule(options.singleton),
    breaker: defineBreakerRule(options.breaker),
    variants: defineVariants(options),
  };
}

function defineFairness({ fair_by, weight, max_share }: Remaining<AgentOptions>): Fairness | null {
  return fair_by === undefined ? null : { by: fair_by, weight: weight ?? null, maxShare: shareOf(max_share) };
}

/** A share such as `50%` or 0.5 as a number. */
const shareOf = (share: number | string = DEFAULT_SHARE): number =>
  typeof share === 'number' ? share : Number.parseInt(share, 10) / 100;

function defineCancelRule(options: Remaining<AgentOptions['cancel_on']>): CancelRule | null {
  return options?.key === undefined ? null : { types: present(options.types), key: options.key };
}

function defineCacheRule(options: Remaining<AgentOptions['cache']>): CacheRule | null {
  const forMs = milliseconds(options?.for);
  return forMs === null ? null : { forMs, key: options?.key ?? null };
}

function defineSingletonRule(options: Remaining<AgentOptions['singleton']>): SingletonRule | null {
  const { key, on_conflict: onConflict } = options ?? {};
  return key === undefined || onConflict === undefined ? null : { key, onConflict };
}

function defineBreakerRule(options: Remaining<AgentOptions['breaker']>): BreakerRule | null {
  const { failures, of, open, key } = options ?? {};
  const openMs = milliseconds(open);
  if (failures === undefined || of === undefined || openMs === null) return null;
  return { failures: countOf(failures, of), of, openMs, key: key ?? null };
}

/** How many attempts a share such as `50%` of `of` attempts is. */
const countOf = (share: string, of: number): number => Math.ceil((Number.parseInt(share, 10) * of) / 100);

function defineVariants({ variants, rollback }: Remaining<RampOptions>): Variants | null {
  const all = Object.entries(variants ?? {}).flatMap(([name, options = {}]) =>
    options.share === undefined ? [] : [{ name, share: partsOf(options.share), override: overrideIn({ ...options }) }],
  );
  return all.length === 0 ? null : { all, rollback: defineRollback(rollback), digest: digestOfVariants(all) };
}

function defineRollback(options: Remaining<RampOptions['rollback']>): RollbackRule | null {
  const { failures, of } = options ?? {};
  return failures === undefined || of === undefined ? null : { failures: countOf(failures, of), of };
}

function defineSubscription(agent: string, index: number, options: Remaining<SubscriptionOptions>): Subscription {
  const types = present(options.types);
  const mode = options.mode ?? 'all';
  const joins = mode === 'all' && types.length > 1;
  const { join, batch, debounce } = options;
  return {
    agent,
    index,
    types,
    mode,
    where: options.where ?? null,
    fromAgents: present(options.from_agents),
    tags: present(options.tags),
    join: joins ? { by: join?.by ?? null, withinMs: milliseconds(join?.within) } : null,
    batch: batch
      ? { size: batch.size ?? MAX_BATCH_SIZE, timeoutMs: milliseconds(batch.timeout), key: batch.key ?? null }
      : null,
    debounce: debounce ? defineDebounce(debounce) : null,
    priority: typeof options.priority === 'number' ? options.priority : 0,
    priorityBy: typeof options.priority === 'string' ? options.priority : null,
    allowSelf: options.allow_self ?? false,
  };
}

function defineDebounce({
  wait,
  at_most,
  key,
}: Remaining<NonNullable<SubscriptionOptions['debounce']>>): Subscription['debounce'] {
  const waitMs = milliseconds(wait);
  const atMostMs = milliseconds(at_most);
  return waitMs === null || atMostMs === null ? null : { waitMs, atMostMs, key: key ?? null };
}

function defineOutput(type: string, options: Remaining<OutputOptions>): Output {
  const given = options.visibility;
  const isValid = given !== undefined && findVisibilityProblem(given) === null;
  return { type, visibility: isValid ? toVisibility(given as JsonObject) : PUBLIC, tags: present(options.tags) };
}

function defineRetry(options: Remaining<NonNullable<AgentOptions['retry']>>): RetryPolicy {
  const delayMs = milliseconds(options.delay) ?? DEFAULT_RETRY.delayMs;
  return {
    attempts: options.attempts ?? DEFAULT_RETRY.attempts,
    delayMs,
    maxDelayMs: milliseconds(options.max_delay) ?? Math.max(DEFAULT_RETRY.maxDelayMs, delayMs),
  };
}

const milliseconds = (duration: string | undefined): number | null =>
  duration === undefined ? null : parseDuration(duration);

const present = <T>(items: (T | undefined)[] | undefined): T[] => (items ?? []).filter((item) => item !== undefined);

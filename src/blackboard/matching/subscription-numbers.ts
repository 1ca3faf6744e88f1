import { Injectable, type OnModuleInit } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { gathers } from './matcher.js';
import { findSubscriptions, insertSubscription, type SubscriptionPlace } from './subscription-rows.js';

interface Numbered extends SubscriptionPlace {
  configured: Subscription;
}

const LOCK = 'subscriptions';

/**
 * Numbers the subscriptions in which artifacts can wait: joins, batch windows and those with `debounce`. A subscription keeps its number when
 * the configuration changes. Its place in `consumes` was rejected as the number: after a subscription is added or
 * removed before it, waiting artifacts would continue in another subscription.
 */
@Injectable()
export class SubscriptionNumbers implements OnModuleInit {
  private numbers = new Map<Subscription, number>();
  private byName = new Map<string, Subscription>();

  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async onModuleInit(): Promise<void> {
    const waiting = this.catalog.agents
      .map(({ subscriptions }) => subscriptions.filter(gathers))
      .filter(({ length }) => length > 0);
    if (waiting.length === 0) return;
    const numbered = await this.unitOfWork.run((tx) => numberAll(tx, waiting));
    this.numbers = new Map(numbered.map(({ configured, subscription }) => [configured, subscription]));
    this.byName = new Map(numbered.map((place) => [nameOf(place), place.configured]));
  }

  of(subscription: Subscription): number {
    return this.numbers.get(subscription)!;
  }

  /** `undefined` if the configuration of this process does not have the subscription. */
  find(place: SubscriptionPlace): Subscription | undefined {
    return this.byName.get(nameOf(place));
  }

  /** The numbered subscriptions of this process's configuration. */
  get all(): SubscriptionPlace[] {
    return [...this.numbers].map(([{ agent }, subscription]) => ({ agent, subscription }));
  }
}

const nameOf = ({ agent, subscription }: SubscriptionPlace): string => JSON.stringify([agent, subscription]);

/** Locked, because two processes could give the same number to different subscriptions. */
async function numberAll(tx: Transaction, byAgent: readonly Subscription[][]): Promise<Numbered[]> {
  await tx.lock([LOCK]);
  const numbered: Numbered[] = [];
  for (const subscriptions of byAgent) numbered.push(...(await numberSome(tx, subscriptions)));
  return numbered;
}

/** Numbers the subscriptions of one agent. */
async function numberSome(tx: Transaction, subscriptions: readonly Subscription[]): Promise<Numbered[]> {
  const { agent } = subscriptions[0]!;
  const known = await findSubscriptions(tx, agent);
  const numbered: Numbered[] = [];
  for (const { identity, configured } of identified(subscriptions)) {
    const row = known.find((each) => each.identity === identity);
    const number = row?.number ?? nextNumber(known);
    if (!row) {
      await insertSubscription(tx, { agent, number, identity });
      known.push({ agent, number, identity });
    }
    numbered.push({ agent, subscription: number, configured });
  }
  return numbered;
}

const nextNumber = (known: readonly { number: number }[]): number =>
  Math.max(-1, ...known.map(({ number }) => number)) + 1;

/**
 * The identity holds what decides which artifacts belong together. With another `where`, `within` or `size` a
 * subscription keeps its waiting artifacts. Equal subscriptions of an agent are distinguished by their order.
 */
function identified(subscriptions: readonly Subscription[]): { identity: string; configured: Subscription }[] {
  const seen = new Map<string, number>();
  return subscriptions.map((configured) => {
    const identity = JSON.stringify(identityOf(configured));
    const before = seen.get(identity) ?? 0;
    seen.set(identity, before + 1);
    return { identity: before === 0 ? identity : `${identity} ${before + 1}`, configured };
  });
}

function identityOf({ types: given, batch, debounce, join }: Subscription): object {
  const types = [...given].sort();
  const window = batch ?? debounce;
  if (!window) return { join: types, by: join?.by ?? null };
  return { [batch ? 'batch' : 'debounce']: types, ...(window.key !== null && { key: window.key }) };
}

/** The identities, as a pattern of LIKE, of joins of artifacts of one correlation. The quotes in a `join.by` are escaped. */
export const BY_CORRELATION = '%,"by":null}%';

/** The types of a subscription, sorted, as its stored identity has them. */
export function typesIn(identity: string): string[] {
  const stored = JSON.parse(identity.slice(0, identity.lastIndexOf('}') + 1)) as Record<string, string[]>;
  return stored.join ?? stored.batch ?? stored.debounce ?? [];
}

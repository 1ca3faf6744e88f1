import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { BASE, rollbackKey, variantFor } from '../../catalog/variants.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import { countAttempt } from './attempt-counts.js';
import { findOpenAmong } from './breaker-rows.js';
import type { EndedExecutionAttempt } from './breakers.js';

/** An execution, and the correlation whose variants it uses (`variantsFrom`). */
interface Wanted {
  agent: string;
  correlation: string;
}

interface VariantAttempt extends Omit<EndedExecutionAttempt, 'limitKeys'> {
  /** Null if the agent has no variants, or if this process does not know which one the attempt had. */
  variant: string | null;
  replay: boolean;
}

/**
 * Decides with which variants of their agents executions run, and counts the attempts of variants with `rollback`. The
 * database has the counts, so that a variant is rolled back in all processes at the same time.
 */
@Injectable()
export class ExecutedVariants {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Returns for each the name of the variant that is not rolled back, `base` for the agent's own options, or null if the
   * agent has no variants. It asks the database only about variants with `rollback`.
   */
  async names(db: Reader, wanted: readonly Wanted[]): Promise<(string | null)[]> {
    const chosen = wanted.map(({ agent, correlation }) => {
      const variants = this.catalog.agent(agent)?.variants;
      if (!variants) return { name: null, key: null };
      const variant = variantFor(agent, variants, correlation);
      if (!variant) return { name: BASE, key: null };
      return { name: variant.name, key: variants.rollback && rollbackKey(agent, variants, variant.name) };
    });
    const keys = [...new Set(chosen.flatMap(({ key }) => key ?? []))];
    const rolledBack = new Set((await findOpenAmong(db, {}, keys)).map(({ breaker_key }) => breaker_key));
    return chosen.map(({ name, key }) => (key !== null && rolledBack.has(key) ? BASE : name));
  }

  /**
   * Counts an attempt of a variant in the transaction that stores its outcome. For agents without `rollback`, it asks the
   * database nothing.
   */
  async record(tx: Transaction, { agent, variant, replay, startedAt, failed, now }: VariantAttempt): Promise<void> {
    const variants = this.catalog.agent(agent)?.variants;
    if (!variants?.rollback || variant === null || variant === BASE || replay || startedAt === null) return;
    const { rollback } = variants;
    const counter = { key: rollbackKey(agent, variants, variant), agent, variant, forgottenAfterMs: NEVER };
    const rule = { ...rollback, openMs: NEVER - now };
    const isRolledBack = await countAttempt(tx, counter, rule, { startedAt, failed, now });
    if (isRolledBack)
      tx.afterCommit(() =>
        this.logger.warn(
          { agent, variant, failures: rollback.failures, of: rollback.of },
          "a variant is rolled back, because too many of its attempts have failed; the agent's own options are used until its variants change",
        ),
      );
  }

  /** Agent → variant → since when it is rolled back (epoch ms). Without `rollback`, it asks the database nothing. */
  async rolledBack(): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
    const counted = this.catalog.agents.flatMap(({ name: agent, variants }) =>
      variants?.rollback
        ? variants.all.map(({ name }) => ({ agent, name, key: rollbackKey(agent, variants, name) }))
        : [],
    );
    const open = await findOpenAmong(
      this.unitOfWork.reader,
      {},
      counted.map(({ key }) => key),
    );
    const since = new Map(open.map(({ breaker_key, opened_at }) => [breaker_key, opened_at!]));
    const found = counted.filter(({ key }) => since.has(key));
    return new Map(
      [...Map.groupBy(found, ({ agent }) => agent)].map(([agent, some]) => [
        agent,
        new Map(some.map(({ name, key }) => [name, since.get(key)!])),
      ]),
    );
  }

  /** Logs which variants are rolled back. */
  async report(): Promise<void> {
    for (const [agent, variants] of await this.rolledBack())
      for (const [variant, since] of variants)
        this.logger.warn(
          { agent, variant, since: toTimestamp(since) },
          "a variant stays rolled back, and the agent's own options are used until its variants change",
        );
  }
}

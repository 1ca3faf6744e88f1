import { isDeepStrictEqual } from 'node:util';

import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { type Limit, type LimitValues, valuesOf, withValues } from '../../catalog/limits.js';
import { meant } from '../../catalog/unknown-names.js';
import { mayGiveNumber, typed } from '../../cel/types/type-check.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { shown } from '../../common/short-text.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { effectiveLimits } from '../matching/effective-limits.js';
import { deleteLimitValues, findLimitValues, saveLimitValues } from '../matching/limit-value-rows.js';
import { type LimitQueue, LimitQueues } from './limit-queues.js';
import { LimitReleases } from './limit-releases.js';
import { limitLock, SharedLimits } from './shared-limits.js';

/** A limit with its values, and what is used of it. */
export interface LimitState {
  limit: Limit;
  /** The values of the configuration file. */
  file: LimitValues;
  /** When a client set other values (epoch ms); null if those of the file hold. */
  setAt: number | null;
  /** The agents that take part in it, in the order of the configuration. */
  agents: { agent: string; key: string | null }[];
  /** Executions that use it: those that run, and with `hold` those that wait after their first start. */
  running: number;
  queue: LimitQueue;
}

/** Limits that clients change while they are used. A value that was set holds until it is deleted, also after a restart. */
@Injectable()
export class ChangedLimits {
  constructor(
    private readonly catalog: Catalog,
    private readonly limits: SharedLimits,
    private readonly releases: LimitReleases,
    private readonly queues: LimitQueues,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The limits of the configuration, in its order. */
  all(): Promise<LimitState[]> {
    return this.states([...this.catalog.limits.values()]);
  }

  /** DomainError `not_found`. */
  async get(name: string): Promise<LimitState> {
    this.refuseUnknown(name);
    return (await this.states([this.catalog.limits.get(name)!]))[0]!;
  }

  /** Every claim after the commit, in any process, sees the values. DomainError `not_found`, `invalid`. */
  async set(name: string, values: LimitValues): Promise<void> {
    this.refuseUnknown(name);
    refuseTooSmall(withValues(this.catalog.limits.get(name)!, values));
    const set_at = this.clock.now();
    await this.change(name, (tx) => saveLimitValues(tx, { name, options: JSON.stringify(values), set_at }));
  }

  /** The values of the configuration file hold again. DomainError `not_found`. */
  async reset(name: string): Promise<void> {
    await this.change(name, (tx) => deleteLimitValues(tx, name));
  }

  /** Logs which limits have other values than the configuration file. */
  async report(): Promise<void> {
    for (const { limit, file, setAt } of this.catalog.limits.size === 0 ? [] : await this.all())
      if (setAt !== null && !isDeepStrictEqual(valuesOf(limit), file))
        this.logger.warn(
          { limit: limit.name, set: valuesOf(limit), file },
          'a client has set other values for a limit than the configuration file, and they hold until DELETE /api/v1/limits/{limit_name}',
        );
  }

  /** DomainError `not_found`. */
  refuseUnknown(name: string): void {
    if (this.catalog.limits.has(name)) return;
    const known = [...this.catalog.limits.keys()].map((name) => ({ name }));
    throw new DomainError('not_found', `Limit not found: ${shown(name)}${meant(name, known) ?? ''}`);
  }

  private async states(limits: readonly Limit[]): Promise<LimitState[]> {
    const { reader } = this.unitOfWork;
    const names = limits.map(({ name }) => name);
    const [effective, stored, running, queues] = await Promise.all([
      effectiveLimits(reader, this.catalog, names),
      findLimitValues(reader, {}, names),
      this.limits.running(reader),
      this.queues.of(names),
    ]);
    const used = running.flatMap((keys) => keys.map(([name]) => name));
    return limits.map((limit) => ({
      limit: effective.get(limit.name)!,
      file: valuesOf(limit),
      setAt: stored.find(({ name }) => name === limit.name)?.set_at ?? null,
      agents: this.catalog.agents.flatMap(({ name: agent, limits: uses }) =>
        uses.flatMap(({ name, key }) => (name === limit.name ? { agent, key } : [])),
      ),
      running: used.filter((name) => name === limit.name).length,
      queue: queues.get(limit.name)!,
    }));
  }

  private async change(name: string, work: (tx: Transaction) => Promise<void>): Promise<void> {
    this.refuseUnknown(name);
    await this.unitOfWork.run(async (tx) => {
      await tx.lock([limitLock(name)]);
      await work(tx);
      tx.afterCommit(() => this.releases.changed());
    });
  }
}

/** Refuses a burst with which nothing could start, as the check of the file does. */
function refuseTooSmall({ rate, units }: Limit): void {
  if (rate === null || units === null) return;
  if (mayGiveNumber(typed(units, new Map()), (cost) => cost >= 0 && cost <= rate.burst)) return;
  const message = `burst: each attempt costs more than ${rate.burst} units, so that none could start; send a larger burst`;
  throw new DomainError('invalid', message);
}

import { isDeepStrictEqual } from 'node:util';

import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { unitsWithin, valueProblem } from '../../catalog/configuration-file/expected-values.js';
import { defineLimit, type Limit, type LimitValues, valuesOf, withValues } from '../../catalog/limits.js';
import { meant } from '../../catalog/unknown-names.js';
import { typed } from '../../cel/types/type-check.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { shown } from '../../common/short-text.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { effectiveLimits } from '../matching/effective-limits.js';
import type { LimitKey } from '../matching/limit-keys.js';
import {
  deleteLimitValues,
  findAllLimitValues,
  findLimitValues,
  saveLimitValues,
} from '../matching/limit-value-rows.js';
import { LimitHolders } from './limit-holders.js';
import { type LimitQueue, LimitQueues } from './limit-queues.js';
import { LimitReleases } from './limit-releases.js';
import { deleteRates, stretchRates } from './limit-rows.js';
import { limitLock, SharedLimits } from './shared-limits.js';

const UNDO = 'DELETE /api/v1/limits/{limit_name}';
const OTHER = `a client has set other values for a limit than the configuration file, and they hold until ${UNDO}`;
const GONE = `a client has set values for a limit that the configuration file no longer has, and they stay until ${UNDO}`;
const TOO_SMALL = `a client has set a burst for a limit with which no attempt can start, because each costs more units, so all its executions fail until a larger burst or ${UNDO}`;

/** A limit with its values, and what is used of it. */
export interface LimitState {
  limit: Limit;
  /** The values of the configuration file. Null if it no longer has the limit, which then limits nothing. */
  file: LimitValues | null;
  /** When a client set other values (epoch ms); null if those of the file hold. */
  setAt: number | null;
  /** The agents that take part in it, in the order of the configuration. */
  agents: { agent: string; key: string | null }[];
  /** Executions that use it: those that run, and with `hold` those that wait after their first start. */
  running: number;
  /** Used units of the burst. Null for a limit without a rate, or with keys. */
  unitsUsed: number | null;
  queue: LimitQueue;
}

/** Limits that clients change while they are used. A value that was set holds until it is deleted, also after a restart. */
@Injectable()
export class ChangedLimits {
  constructor(
    private readonly catalog: Catalog,
    private readonly limits: SharedLimits,
    private readonly holders: LimitHolders,
    private readonly releases: LimitReleases,
    private readonly queues: LimitQueues,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The limits of the configuration, in its order, and then those of which only the values of a client are left. */
  async all(): Promise<LimitState[]> {
    const { limits } = this.catalog;
    const stored = await findAllLimitValues(this.unitOfWork.reader);
    const gone = stored.filter(({ name }) => !limits.has(name));
    return this.states([...limits.keys(), ...gone.map(({ name }) => name)]);
  }

  /** DomainError `not_found`. */
  async get(name: string): Promise<LimitState> {
    await this.refuseUnknown(name);
    return (await this.states([name]))[0]!;
  }

  /**
   * Every claim after the commit, in any process, sees the values. DomainError `not_found`, `invalid`, `conflict` (the
   * configuration no longer has the limit).
   */
  async set(name: string, values: LimitValues): Promise<void> {
    await this.refuseUnknown(name);
    const limit = this.catalog.limits.get(name);
    if (!limit)
      throw new DomainError(
        'conflict',
        `The configuration file has no limit ${shown(name)}; add it, or delete its values`,
      );
    refuseTooSmall(withValues(limit, values));
    const set_at = this.clock.now();
    await this.change(name, (tx) => saveLimitValues(tx, { name, options: JSON.stringify(values), set_at }));
  }

  /** The values of the configuration file hold again. Returns the limit with them. DomainError `not_found`. */
  async reset(name: string): Promise<LimitState> {
    await this.refuseUnknown(name);
    await this.change(name, (tx) => deleteLimitValues(tx, name));
    return (await this.states([name]))[0]!;
  }

  /** Logs which limits have other values than the configuration file. */
  async report(): Promise<void> {
    const stored = await findAllLimitValues(this.unitOfWork.reader);
    for (const { limit, file } of await this.states(stored.map(({ name }) => name))) {
      const about = { limit: limit.name, set: valuesOf(limit), file };
      if (file === null) this.logger.warn(about, GONE);
      else if (!letsSomethingStart(limit)) this.logger.error({ ...about, units: limit.units }, TOO_SMALL);
      else if (!isDeepStrictEqual(valuesOf(limit), file)) this.logger.warn(about, OTHER);
    }
  }

  /** A limit that the configuration no longer has is known while it has values of a client. DomainError `not_found`. */
  async refuseUnknown(name: string): Promise<void> {
    const { limits } = this.catalog;
    if (limits.has(name) || (await findLimitValues(this.unitOfWork.reader, {}, [name])).length > 0) return;
    const known = [...limits.keys()].map((name) => ({ name }));
    throw new DomainError('not_found', `Limit not found: ${shown(name)}${meant(name, known) ?? ''}`);
  }

  private async states(names: readonly string[]): Promise<LimitState[]> {
    if (names.length === 0) return [];
    const { reader } = this.unitOfWork;
    const keys = names.map((name): LimitKey => [name, null, 1]);
    const [effective, stored, running, queues, usage] = await Promise.all([
      effectiveLimits(reader, this.catalog, names),
      findLimitValues(reader, {}, names),
      this.holders.keys(reader),
      this.queues.of(names),
      this.limits.usage(reader, keys, this.clock.now()),
    ]);
    const used = running.flatMap((keys) => keys.map(([name]) => name));
    const values = new Map(stored.map((row) => [row.name, row]));
    return names.map((limitName, index) => {
      const inFile = this.catalog.limits.get(limitName);
      const set = values.get(limitName);
      const agents = this.catalog.agents.flatMap(({ name: agent, limits: uses }) =>
        uses.flatMap(({ name, key }) => (name === limitName ? { agent, key } : [])),
      );
      return {
        limit: effective.get(limitName) ?? defineLimit(limitName, set ? (JSON.parse(set.options) as LimitValues) : {}),
        file: inFile ? valuesOf(inFile) : null,
        setAt: set?.set_at ?? null,
        agents,
        running: used.filter((name) => name === limitName).length,
        unitsUsed: agents.some(({ key }) => key !== null) ? null : usage.unitsUsed(keys[index]!),
        queue: queues.get(limitName)!,
      };
    });
  }

  private async change(name: string, work: (tx: Transaction) => Promise<void>): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.lock([limitLock(name)]);
      await work(tx);
      await this.continueRate(tx, name);
      tx.afterCommit(() => this.releases.changed());
    });
  }

  /** Without this, what an hour's rate has let start would shut a faster one for an hour. */
  private async continueRate(tx: Transaction, name: string): Promise<void> {
    const rate = (await effectiveLimits(tx.db, this.catalog, [name])).get(name)?.rate;
    if (rate) await stretchRates(tx, name, rate, this.clock.now());
    else await deleteRates(tx, name);
  }
}

/** Whether the burst is enough for some attempt, as the check of the file asks too. */
const letsSomethingStart = ({ rate, units }: Limit): boolean =>
  rate === null || units === null || valueProblem(units, typed(units, new Map()), unitsWithin(rate.burst)) === null;

function refuseTooSmall(limit: Limit): void {
  if (letsSomethingStart(limit)) return;
  const message = `burst: each attempt costs more than ${limit.rate!.burst} units, so that none could start; send a larger burst`;
  throw new DomainError('invalid', message);
}

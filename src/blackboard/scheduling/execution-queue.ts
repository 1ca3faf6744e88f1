import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { changeOf } from '../../catalog/overrides.js';
import { configurationKey, type ReplayConfiguration } from '../../catalog/replay-configuration.js';
import { variantFor } from '../../catalog/variants.js';
import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { mayHaveEffects } from '../../engines/effects.js';
import { externalWork, isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { NEVER } from '../../queue/queue.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import { findArtifactIds } from '../artifacts/stored-artifact-rows.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { changesIn, variantsFrom } from '../correlations/replay-options.js';
import { NOT_REPLAYED, RUN, UNANSWERED } from '../correlations/replay-values.js';
import { isReplay, type TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { findBlocked } from '../limits/blocked-execution-rows.js';
import { keyTexts } from '../limits/key-texts.js';
import { QueueExpressions } from '../matching/queue-expressions.js';
import { keysIn, NO_VALUES, type QueueValues } from '../matching/queue-values.js';
import { Backlog } from './backlog.js';
import { GenerationLimit } from './generation-limit.js';
import { ImmediateStarts, type KeptSlot } from './immediate-starts.js';
import type { InlineContext, InlineRun } from './inline-run.js';
import {
  insertEnded,
  insertExecutions,
  insertInputs,
  insertRunning,
  type NewExecutionRow,
} from './queued-execution-rows.js';
import { Singletons, type Turn } from './singletons.js';
import { TimerQueue } from './timer-queue.js';

export interface NewExecution {
  /** The subscription that triggers it, or that accepts the inputs of its caller. */
  subscription: Subscription;
  /** It owns the execution. */
  correlation: TrackedCorrelation;
  /** Positions of the input artifacts, in the order in which the agent sees them. */
  inputs: number[];
  /** The inputs, if the caller has them in memory. Only then can the execution start without a claim. */
  known?: ExecutionInput[];
  /** It is queued with these, if the caller has computed them. */
  queueValues?: QueueValues;
  /** The answer of `findBlockedKeys`, if the caller has asked. */
  blockedKeys?: ReadonlySet<string>;
  /** Its run, if its agent has answered already. Without it, the agent runs later. */
  inline?: InlineRun;
  /** Belongs to `inline`. */
  inlineContext?: InlineContext | null;
  direct: boolean;
}

/** The columns that decide whether it may start now. */
type QueuePlace = Pick<NewExecutionRow, 'blocked_on' | 'singleton_waits' | 'available_at'>;

/** Queues executions in the transaction that triggers them. */
@Injectable()
export class ExecutionQueue {
  constructor(
    private readonly catalog: Catalog,
    private readonly generationLimit: GenerationLimit,
    private readonly singletons: Singletons,
    private readonly timers: TimerQueue,
    private readonly backlog: Backlog,
    private readonly starts: ImmediateStarts,
    private readonly queueExpressions: QueueExpressions,
    private readonly signals: Signals,
  ) {}

  /**
   * Finds the keys (`keyText`) of limits that executions wait for, among those that these executions will have. Asked
   * together with another query, it needs no round trip.
   */
  findBlockedKeys(
    tx: Transaction,
    executions: readonly Pick<NewExecution, 'subscription' | 'queueValues'>[],
  ): Promise<ReadonlySet<string>> {
    const keys = executions.flatMap(({ subscription, queueValues }) => {
      const values = queueValues ?? this.queueExpressions.withoutInputs(subscription);
      return keyTexts(values?.limit_keys ?? null);
    });
    return blockedOf(tx, keys);
  }

  /**
   * Returns the new execution's id, or null if the agent has reached its limit in this generation of the correlation.
   */
  async add(tx: Transaction, changes: CorrelationChanges, execution: NewExecution): Promise<string | null> {
    const { correlation, subscription, inputs } = execution;
    const { agent } = subscription;
    if (await this.generationLimit.refuses(tx, changes, { agent, correlation, inputs })) return null;
    correlation.generation_executions += 1;
    const { values, areComputed } = this.valuesOf(execution);
    const turn = areComputed ? await this.turnOf(tx, changes.now, execution, values) : null;
    const row = {
      ...this.rowOf(execution, changes.now),
      ...values,
      ...(await this.placeOf(tx, values, turn, execution.blockedKeys)),
      priority: values.priority ?? subscription.priority,
    };
    if (this.mayEndNow(execution, row)) {
      const { inline, inlineContext } = execution;
      await inline!.store(tx, changes, correlation, { row, inputs, inlineContext: inlineContext! });
      return row.id;
    }
    if (turn?.kind === 'skipped')
      await this.insertCancelled(tx, changes, row, { skipped_for: turn.execution, superseded_by: null });
    else await this.insertOpen(tx, changes, execution, row);
    await insertInputs(tx.db, [{ id: row.id, inputs }]);
    return row.id;
  }

  /**
   * Stores an execution that never starts, because the artifact at the position `by` has taken the place of its input. The
   * limit of the generation does not count it.
   */
  async addSuperseded(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: NewExecution,
    by: number,
  ): Promise<void> {
    const place = { blocked_on: null, singleton_waits: 0, available_at: null };
    const values = { ...NO_VALUES, priority: execution.subscription.priority };
    const row = { ...this.rowOf(execution, changes.now), ...values, ...place, due_at: null };
    const [superseded_by = null] = await findArtifactIds(tx, [by]);
    await this.insertCancelled(tx, changes, row, { skipped_for: null, superseded_by });
    await insertInputs(tx.db, [{ id: row.id, inputs: execution.inputs }]);
  }

  private async insertCancelled(
    tx: Transaction,
    { now }: CorrelationChanges,
    row: NewExecutionRow,
    why: { skipped_for: string | null; superseded_by: string | null },
  ): Promise<void> {
    await insertEnded(tx.db, [{ ...row, state: 'cancelled', ended_at: now, ...why }]);
  }

  private async insertOpen(
    tx: Transaction,
    { now }: CorrelationChanges,
    { correlation, known }: NewExecution,
    row: NewExecutionRow,
  ): Promise<void> {
    const isPlaced = row.available_at === null || row.blocked_on !== null;
    const slot = known && !this.needsClaim(correlation, row) ? this.starts.keepSlot(tx, row.agent, row.id) : null;
    if (slot) await this.insertRunning(tx, row, slot, known!);
    else await this.insertPending(tx, row);
    if (row.due_at !== null) await this.timers.set(tx, 'due', row.due_at, row.id);
    // Expressions may take a second, which is too long for a transaction, and so may a look at the record. A timer that
    // is due immediately does it, and nothing may claim the execution before.
    if (!isPlaced) await this.timers.set(tx, row.replay === UNANSWERED ? 'answer' : 'limits', now, row.id);
    correlation.pending += 1;
  }

  /** A claim holds the locks of limits, and reads what a replay overrides and which variants are rolled back. */
  private needsClaim(correlation: TrackedCorrelation, row: NewExecutionRow): boolean {
    return (
      row.available_at !== null ||
      row.limit_keys !== null ||
      changeOf(changesIn(correlation.replay_options), row.agent) !== null ||
      this.hasVariant(row.agent, correlation)
    );
  }

  private mayEndNow({ inline, inlineContext, correlation }: NewExecution, row: NewExecutionRow): boolean {
    if (!inline || !inlineContext || inlineContext.paused.has(row.agent) || row.singleton_key !== null) return false;
    return !this.needsClaim(correlation, row) && inline.mayEnd();
  }

  private async insertPending(tx: Transaction, row: NewExecutionRow): Promise<void> {
    await insertExecutions(tx.db, [{ ...row, state: 'pending' }]);
    if (this.backlog.counts(row)) this.backlog.changed(tx, 1);
    if (row.available_at === null) tx.whenVisible(() => this.wakeClaims(row));
  }

  private wakeClaims({ agent, configuration }: NewExecutionRow): void {
    const { executionReady } = this.signals;
    if (configuration === null || this.catalog.replayKeys.includes(configuration)) executionReady.publish(agent);
    else executionReady.publishElsewhere(agent);
  }

  /** The database decides whether it may run (`insertRunning`). Nothing else of the transaction depends on that. */
  private async insertRunning(
    tx: Transaction,
    row: NewExecutionRow,
    slot: KeptSlot,
    inputs: ExecutionInput[],
  ): Promise<void> {
    tx.withAnswer(insertRunning(tx.db, { ...row, ...slot.lease }), ([stored]) => {
      if (stored!.state === 'running') slot.start(row, inputs);
      else {
        slot.release();
        this.backlog.hasChanged(1);
        this.signals.executionReady.publish(row.agent);
      }
    });
    await slot.countStart(row);
  }

  private hasVariant(agent: string, correlation: TrackedCorrelation): boolean {
    const variants = this.catalog.agent(agent)?.variants;
    return Boolean(variants && variantFor(agent, variants, variantsFrom(correlation)));
  }

  /** An execution keeps the limits and the keys that it is queued with. */
  private valuesOf(execution: NewExecution): { values: QueueValues; areComputed: boolean } {
    if (this.mustNotRun(execution)) return { values: NO_VALUES, areComputed: false };
    const { subscription, correlation, queueValues } = execution;
    const computed = queueValues ?? this.queueExpressions.withoutInputs(subscription);
    const values = computed ?? this.queueExpressions.notComputed(subscription.agent);
    const keys = keysIn({ id: correlation.id, isReplay: isReplay(correlation) }, values);
    return { values: { ...values, ...keys }, areComputed: computed !== undefined };
  }

  private turnOf(
    tx: Transaction,
    now: number,
    { subscription, inputs }: NewExecution,
    { singleton_key: key }: QueueValues,
  ): Promise<Turn> {
    const firstInput = async () => (await findArtifactIds(tx, inputs.slice(0, 1)))[0]!;
    return this.singletons.arrive(tx, now, { agent: subscription.agent, key, known: null, firstInput });
  }

  /** `turn`: null if its key is not computed yet. */
  private async placeOf(
    tx: Transaction,
    { limit_keys }: QueueValues,
    turn: Turn | null,
    known?: ReadonlySet<string>,
  ): Promise<QueuePlace> {
    const free = { blocked_on: null, singleton_waits: 0, available_at: null };
    if (!turn) return { ...free, available_at: NEVER };
    if (turn.kind === 'waits') return { blocked_on: turn.blockedOn, singleton_waits: 1, available_at: NEVER };
    if (turn.kind === 'skipped') return free;
    // It waits behind those that wait already, and no claim reads it.
    const keys = keyTexts(limit_keys);
    const blocked = known ?? (await blockedOf(tx, keys));
    const blockedOn = keys.find((key) => blocked.has(key));
    return blockedOn === undefined ? free : { ...free, blocked_on: blockedOn, available_at: NEVER };
  }

  /** A shadow replay runs no agent that may change something outside. */
  private mustNotRun(execution: NewExecution): boolean {
    const { subscription, correlation } = execution;
    if (correlation.replay_mode !== 'shadow') return false;
    const { agent } = subscription;
    const configuration = this.configurationOf(execution);
    // The claim decides, in a process that has the configuration.
    if (!this.catalog.canReplay(configuration)) return false;
    return mayHaveEffects(this.catalog.forReplay(agent, configuration).agent(agent));
  }

  /** The configuration that a process needs to run it. External agents are those of the service in each configuration. */
  private configurationOf({ subscription, correlation }: NewExecution): ReplayConfiguration | null {
    if (isExternal(this.catalog.agent(subscription.agent))) return null;
    return changesIn(correlation.replay_options).configuration;
  }

  private rowOf(execution: NewExecution, now: number): Omit<NewExecutionRow, keyof QueueValues | keyof QueuePlace> {
    const { subscription, correlation, inline, direct } = execution;
    const mustNotRun = this.mustNotRun(execution);
    const configuration = this.configurationOf(execution);
    const work = mustNotRun ? null : externalWork(this.catalog.agent(subscription.agent));
    return {
      id: inline?.executionId ?? newId(),
      agent: subscription.agent,
      subscription: subscription.index,
      correlation_id: correlation.id,
      generation: correlation.generation,
      direct: direct ? 1 : 0,
      replay: mustNotRun ? UNANSWERED : isReplay(correlation) ? RUN : NOT_REPLAYED,
      // The agent gets the inputs of a window as a list, even a single one.
      batch: subscription.batch ? 1 : 0,
      background: correlation.background,
      attempt: 1,
      lost_leases: 0,
      traceparent: correlation.workTraceparent,
      assignee: work?.assignee ?? null,
      due_at: work?.due ? now + work.due.afterMs : null,
      configuration: configuration && configurationKey(configuration),
      created_at: now,
    };
  }
}

async function blockedOf({ db }: Transaction, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all([...new Set(keys)].map((key) => findBlocked(db, { key })));
  return new Set(found.flat().map(({ blocked_on }) => blocked_on));
}

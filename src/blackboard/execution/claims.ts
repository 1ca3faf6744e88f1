import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { type AgentChange, changeOf, NO_CHANGES } from '../../catalog/overrides.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { mayHaveEffects } from '../../engines/effects.js';
import type { Lease } from '../../queue/lease.js';
import type { Rank } from '../../queue/queue.js';
import { type ClaimedRows, RowClaims } from '../../queue/row-claims.js';
import type { FreeSlots } from '../../queue/slots.js';
import { findReplays, type RunningReplay } from '../correlations/replay-option-rows.js';
import { NOT_REPLAYED } from '../correlations/replay-values.js';
import { FairRows } from '../fairness/fair-rows.js';
import { ClaimLimits } from '../limits/claim-limits.js';
import { ExecutedVariants } from '../limits/executed-variants.js';
import { Backlog } from '../scheduling/backlog.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { countStarts } from './activity-event-rows.js';
import { AgentLimits } from './agent-limits.js';
import { type ClaimedExecution, claimedExecution, definitionOf } from './claimed-execution.js';
import { leaveToRecord } from './execution-rows.js';
import { findClaimedInputs, type InputRow } from './input-rows.js';
import { type ExecutionRow, EXECUTIONS, UNASSIGNED } from './leased-executions.js';

const NO_REPLAYS: ReadonlyMap<string, RunningReplay> = new Map();

/** Claims waiting executions. The claim is committed before an engine runs, so that a crash shows as a lost lease. */
@Injectable()
export class Claims {
  readonly rows: RowClaims<ExecutionRow, InputRow>;
  /** For clients that claim unassigned work: skips assigned executions, which stay in their queue. Reads no inputs. */
  readonly unassigned: RowClaims<ExecutionRow, InputRow>;

  constructor(
    private readonly catalog: Catalog,
    private readonly backlog: Backlog,
    private readonly timers: TimerQueue,
    agentLimits: AgentLimits,
    private readonly claimLimits: ClaimLimits,
    private readonly variants: ExecutedVariants,
    clock: Clock,
    unitOfWork: UnitOfWork,
  ) {
    const rules = {
      free: (tx: Transaction, agents: string[]) => agentLimits.free(tx, agents),
      admit: (tx: Transaction, rows: readonly ExecutionRow[]) => claimLimits.admit(tx, rows),
      forget: () => agentLimits.forget(),
    };
    type Inputs = (tx: Transaction, ids: string[]) => Promise<InputRow[]>;
    const rowsOf = (queue: typeof EXECUTIONS, inputsOf: Inputs): RowClaims<ExecutionRow, InputRow> => {
      const fair = new FairRows(queue, clock);
      const find = (tx: Transaction, agent: string, limit: number) =>
        catalog.agent(agent)?.fairness ? fair.find(tx, agent, limit) : null;
      const ranksIn = (agent: string): Rank[] | null => ranksOf(catalog.agent(agent));
      return new RowClaims(queue, { ...rules, find, inputsOf }, ranksIn, clock, unitOfWork);
    };
    // While a new configuration for replays is rolled out, another process may have the one that a replay needs.
    const needs = { column: 'configuration', had: catalog.replayKeys } as const;
    this.rows = rowsOf({ ...EXECUTIONS, needs }, (tx, ids) => findClaimedInputs(tx.db, {}, ids));
    // The response to a client's claim reads the inputs while it is sent.
    this.unassigned = rowsOf({ ...UNASSIGNED, needs }, async () => []);
  }

  /**
   * Claims as many executions as there are free slots. `moreWaiting`: agents that may have more waiting executions than
   * slots. `missed`: other transactions had locked some of them.
   */
  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
    rows = this.rows,
  ): Promise<{ claimed: ClaimedExecution[]; moreWaiting: string[]; emptied: string[]; missed: boolean }> {
    const { moreWaiting, emptied, ...taken } = await rows.claim(tx, slots, lease);
    return { claimed: await this.claimed(tx, taken), moreWaiting, emptied, missed: taken.missed };
  }

  /** Claims the given executions, which were not found through the queue. Reads no inputs. */
  async claimThese(tx: Transaction, found: readonly ExecutionRow[], lease: Lease): Promise<ClaimedExecution[]> {
    return this.claimed(tx, await this.unassigned.claimThese(tx, found, lease));
  }

  /** Call this when an execution with these keys (`executions.limit_keys`) has ended or waits again. */
  freeLimits(limitKeys: string): void {
    this.claimLimits.free(limitKeys);
  }

  private async claimed(
    tx: Transaction,
    { rows, leaseToken, startedAt: now, inputs }: ClaimedRows<ExecutionRow, InputRow>,
  ): Promise<ClaimedExecution[]> {
    const replays = rows.filter(({ replay }) => replay !== NOT_REPLAYED).map(({ correlation_id }) => correlation_id);
    const running = replays.length > 0 ? await findReplays(tx.db, replays) : NO_REPLAYS;
    const starting = await this.withoutEffectsInShadow(tx, rows, running, now);
    this.backlog.changed(tx, -starting.length);
    await countStarts(tx, starting, now);
    const inputsByExecution = Map.groupBy(inputs, ({ input_of }) => input_of);
    const names = await this.variants.names(
      tx.db,
      starting.map(({ queue: agent, correlation_id }) => ({
        agent,
        correlation: running.get(correlation_id)?.variantsFrom ?? correlation_id,
      })),
    );
    return starting.map((row, index) => {
      const change = changeOf(running.get(row.correlation_id)?.changes ?? NO_CHANGES, row.queue);
      const variant = this.isChanged(row.queue, change) ? null : (names[index] ?? null);
      return claimedExecution(
        { ...row, agent: row.queue },
        {
          leaseToken,
          inputs: inputsByExecution.get(row.id) ?? [],
          definition: definitionOf(this.catalog, row.queue, variant),
          change,
          variant,
          now,
        },
      );
    });
  }

  /** Whether its replay overrides options of the agent, or takes it from another configuration. */
  private isChanged(agent: string, change: AgentChange | null): boolean {
    if (change === null) return false;
    return change.override !== null || this.catalog.forReplay(agent, change.configuration) !== this.catalog;
  }

  /**
   * Leaves out executions of shadow replays whose agents must not run: the configuration has changed since they were
   * queued. The record answers them.
   */
  private async withoutEffectsInShadow(
    tx: Transaction,
    rows: ExecutionRow[],
    running: ReadonlyMap<string, RunningReplay>,
    now: number,
  ): Promise<ExecutionRow[]> {
    const mayStart = ({ correlation_id, queue }: ExecutionRow): boolean => {
      const replay = running.get(correlation_id);
      if (!replay?.isShadow) return true;
      return !mayHaveEffects(this.catalog.forReplay(queue, replay.changes.configuration).agent(queue));
    };
    const starting = rows.filter(mayStart);
    if (starting.length === rows.length) return rows;
    const others = rows.filter((row) => !starting.includes(row));
    await leaveToRecord(
      tx,
      others.map(({ id }) => id),
    );
    for (const { id, limit_keys } of others) {
      await this.timers.set(tx, 'answer', now, id);
      if (limit_keys !== null) tx.afterCommit(() => this.freeLimits(limit_keys));
    }
    return starting;
  }
}

/** The ranks that the agent's executions can have. Null if expressions decide. */
function ranksOf(agent: AgentDefinition | undefined): Rank[] | null {
  const subscriptions = agent?.subscriptions ?? [];
  if (subscriptions.some(({ priorityBy }) => priorityBy !== null)) return null;
  return subscriptions.flatMap(({ priority }) => [0, 1].map((background) => ({ priority, background })));
}

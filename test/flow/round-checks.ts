import { readFileSync } from 'node:fs';

import { tickBreaches } from '../schedules/tick-invariants.js';
import { jsonField, type TestDatabase } from '../support/database.js';
import { wronglyCached } from './cache-model.js';
import { type Keyed, wronglyCancelled } from './cancel-model.js';
import { livesIn, wronglyRenewed, wronglySkipped } from './conflict-model.js';
import { wronglySuperseded } from './debounce-model.js';
import { type Logged, readLog } from './execution-log.js';
import { type FairFile, unfair } from './fair-model.js';
import { FileHistory } from './file-history.js';
import { type Gathered, type GatheredInput, wronglyGathered, wronglyGiven } from './gather-model.js';
import { LimitModel } from './limit-model.js';
import { type Pause, startedInPauses } from './pause-model.js';
import { outOfOrder } from './priority-model.js';
import {
  type Agent,
  AGENTS,
  AT_MOST_MS,
  type FlowRules,
  KEYS,
  LARGEST_PACK,
  LARGEST_SHARE,
  type RandomRules,
  SCHEDULE,
} from './random-rules.js';
import type { Sent } from './sent.js';
import { wronglyRefused } from './share-model.js';
import type { Payload, Work } from './work.js';

/** Processes look by themselves every 1.5 s. */
const LONGEST_IDLE_MS = 2_000;
/** A process finds the deadlines of one that has ended within five seconds. */
const LATEST_DEADLINE_MS = 6_000;
/** From the entry of the log to the end of its transaction. */
const LONGEST_COMMIT_MS = 100;
const ALL_KEYS = Array.from({ length: KEYS }, (_, n) => n + 1);

/** All that happened in a round that has ended. */
export interface PlayedRound {
  /** The configurations, one after the other. Rules that the models of limits and turns do not know are the same in all. */
  files: readonly RandomRules[];
  rows: TestDatabase['rows'];
  /** By the correlations. */
  works: ReadonlyMap<string, Work>;
  /** Work that the service refused with 503, by the correlations. */
  refused: ReadonlyMap<string, Work>;
  recalls: ReadonlyMap<string, Keyed>;
  /** Clients have cancelled these correlations. */
  cancelled: ReadonlySet<string>;
  /** The executions of these correlations must take an earlier answer, if the agent was the same then. */
  known: ReadonlySet<string>;
  pauses: readonly Pause[];
  /** The path of a file with the correlation of each call of the agents' function. */
  invocations: string;
  /** Returns for how many ms of this time (epoch ms) work could start. */
  between: (from: number, to: number) => number;
}

interface Execution {
  id: string;
  skipped_for: string | null;
  correlation: string;
  state: string;
  cancelled_by: string | null;
  superseded_by: string | null;
  cached_from: string | null;
  definition: string | null;
  ended_at: number | string;
}

/** Compares what the database says of a round with the models of the rules. */
export class RoundChecks {
  constructor(private readonly round: PlayedRound) {}

  /** Returns the broken promises. */
  async breaches(): Promise<string[]> {
    const log = await readLog(this.round.rows);
    return [
      ...this.broken(log),
      ...(await this.wronglyEnded(log)),
      ...(await this.wronglyGathered()),
      ...(await this.lateDeadlines()),
      ...(await this.storedAlthoughRefused()),
      ...(await tickBreaches(this.round.rows, new Set([SCHEDULE]))),
    ];
  }

  private async wronglyGathered(): Promise<string[]> {
    const inputs = await this.round.rows<GatheredInput>(
      `select e.id, e.agent, ${jsonField('a.payload', 'key')} as key, a.correlation_id as correlation
       from executions e join execution_inputs i on i.execution_id = e.id join artifacts a on a.seq = i.artifact_seq`,
    );
    // An artifact that leaves its window has no execution.
    const due = [...this.round.works].filter(
      ([id, { agent, hasDeadline }]) =>
        !((this.round.cancelled.has(id) || hasDeadline) && (this.has(agent).hasDebounce || agent === 'packer')),
    );
    return [
      ...wronglyGathered(inputs, gatheredBy),
      ...wronglyGiven(
        inputs,
        due.map(([id]) => id),
      ),
    ];
  }

  private async storedAlthoughRefused(): Promise<string[]> {
    const correlations = await this.round.rows<{ id: string }>('select id from correlations');
    return correlations.filter(({ id }) => this.round.refused.has(id)).map(({ id }) => `${id} was refused and stored`);
  }

  private async lateDeadlines(): Promise<string[]> {
    const correlations = await this.round.rows<{ id: string; state: string; due: number; at: number }>(
      'select id, state, deadline_at as due, settled_at as at from correlations where deadline_at is not null',
    );
    return correlations.flatMap(({ id, state, due, at }) => [
      ...(state === 'cancelled' && at < due && !this.round.cancelled.has(id)
        ? [`${id} was cancelled before its deadline`]
        : []),
      ...(this.round.between(due, at) > LATEST_DEADLINE_MS ? [`${id} ended ${at - due} ms after its deadline`] : []),
    ]);
  }

  private broken(log: readonly Logged[]): string[] {
    const { files } = this.round;
    const limited = this.worksFor((agent, { key }, { from: sentAt }) => ({ agent, key, units: key, sentAt }));
    const model = new LimitModel(files, limited, { longestMs: LONGEST_IDLE_MS, between: this.round.between });
    for (const entry of log) model.read(entry);
    const fair = this.worksFor((agent, { tenant, weight }, { from: sentAt }) =>
      agent === 'fair' ? { key: tenant!, weight: weight!, sentAt } : null,
    );
    const byAge = this.worksFor((agent, _, sent) => (agent === 'fair' ? { priority: 0, sent } : null));
    const fairHistory = (): FileHistory<FairFile> =>
      new FileHistory(files.map(({ of }) => ({ hasKeys: of.fair.isFair === true })));
    const partsOfFair = files.flatMap(({ of, all }) => of.fair.limits.map((name) => all.get(name)!));
    const sharing = (agent: Agent, { tenant }: Payload, sent: Sent) =>
      this.has(agent).hasShare ? { key: `${agent} ${tenant}`, sent } : null;
    const ranked = this.worksFor((agent, { urgency }, sent) =>
      agent === 'urgent' ? { priority: urgency!, sent } : null,
    );
    const queuedAt = firstEntries(log);
    const inLine = (name: Agent, key: number) =>
      this.worksFor((agent, { key: own, urgency }, sent, correlation) =>
        agent === name && own === key && queuedAt.has(correlation)
          ? { priority: urgency ?? 0, sent: this.triggered(agent, sent, queuedAt.get(correlation)), keepsTurn: true }
          : null,
      );
    return [
      ...model.breaches,
      ...model.left.map((id) => `${id} has not ended`),
      ...startedInPauses(log, this.round.works, this.round.pauses),
      ...wronglyRefused(log, this.worksFor(sharing), this.seenFor(this.round.refused, sharing), {
        most: LARGEST_SHARE,
        between: this.round.between,
      }),
      // Executions that a limit lets go at the same moment may start in either order.
      ...unfair(log, fair, {
        more: new Set(partsOfFair.map(({ name }) => name)).size,
        holds: partsOfFair.some(({ hold }) => hold),
        history: fairHistory(),
      }),
      ...(partsOfFair.length === 0 ? outOfOrder(log, byAge, fairHistory()) : []),
      ...outOfOrder(log, ranked),
      ...AGENTS.filter((agent) => this.has(agent).onConflict === 'queue').flatMap((agent) =>
        ALL_KEYS.flatMap((key) => outOfOrder(log, inLine(agent, key))),
      ),
    ];
  }

  private async wronglyEnded(log: readonly Logged[]): Promise<string[]> {
    const { rows, recalls } = this.round;
    const executions = (
      await rows<Execution>(
        'select id, correlation_id as correlation, state, cancelled_by, skipped_for, superseded_by, cached_from, definition, ended_at from executions',
      )
    ).map((execution) => ({ ...execution, ...this.round.works.get(execution.correlation)! }));
    const artifacts = await rows<{ id: string; correlation: string }>(
      'select id, correlation_id as correlation from artifacts',
    );
    const translations = await rows<{ correlation: string; by: string }>(
      `select correlation_id as correlation, ${jsonField('payload', 'by')} as by from artifacts where type = 'Translation'`,
    );
    const correlationOf = new Map(artifacts.map(({ id, correlation }) => [id, correlation]));
    const answers = Map.groupBy(translations, ({ correlation }) => correlation);
    const invocations = Map.groupBy(
      readFileSync(this.round.invocations, 'utf8').split('\n'),
      (correlation) => correlation,
    );
    const leases = Map.groupBy(
      log.filter(({ state }) => state === 'running'),
      ({ correlation_id: id }) => id!,
    );
    const queuedAt = firstEntries(log);
    const correlationBy = (artifact: string | null): string | null => artifact && correlationOf.get(artifact)!;
    const triggered = this.worksFor((agent, { key }, sent, correlation) => ({
      key,
      sent: this.triggered(agent, sent, queuedAt.get(correlation)),
    }));
    const cancellable = executions
      .filter(({ agent }) => this.has(agent).hasCancelOn)
      .map(({ correlation, state, cancelled_by: by, ended_at: endedAt }) => {
        const reason = correlationBy(by);
        const cancelledBy = reason !== null && recalls.has(reason) ? reason : null;
        return { correlation, state, cancelledBy, endedAt: Number(endedAt) };
      });
    const executionOf = new Map(executions.map(({ id, correlation }) => [id, correlation]));
    const lives = livesIn(log);
    const inConflict = AGENTS.flatMap((name) => {
      const { onConflict, hasDebounce } = this.has(name);
      const own = executions.filter((each) => each.agent === name && each.superseded_by === null);
      const conflicting = own.map(({ correlation, state, payload: { key }, skipped_for: skippedFor, cancelled_by }) => {
        const by = onConflict === 'skip' ? skippedFor && executionOf.get(skippedFor)! : correlationBy(cancelled_by);
        const because = by !== null && recalls.has(by) ? null : by;
        return { correlation, state, key, because, isDecidedLater: hasDebounce === true };
      });
      if (onConflict === 'skip') return wronglySkipped(conflicting, lives);
      return onConflict === 'cancel_running' ? wronglyRenewed(conflicting, lives, this.round.between) : [];
    });
    const debounced = executions
      .filter(({ agent }) => this.has(agent).hasDebounce)
      .map(({ correlation, state, superseded_by: by }) => {
        return { correlation, state, supersededBy: correlationBy(by), queuedAt: queuedAt.get(correlation)! };
      });
    const cached = executions
      .filter(({ agent }) => this.has(agent).hasCache)
      .map(({ id, agent, correlation, state, definition, cached_from: cachedFrom, payload: { key } }) => ({
        ...{ id, agent, correlation, state, definition, cachedFrom, key },
        answers: (answers.get(correlation) ?? []).map(({ by }) => by),
        starts: new Set(leases.get(correlation)?.map(({ lease_token: lease }) => lease)).size,
        invocations: invocations.get(correlation)?.length ?? 0,
      }));
    const keyed = this.worksFor((_, { key }, sent) => ({ key, sent }));
    return [
      ...inConflict,
      ...wronglyCancelled(cancellable, triggered, recalls, this.round.between),
      ...wronglySuperseded(debounced, keyed, { longestMs: AT_MOST_MS + LONGEST_IDLE_MS, between: this.round.between }),
      ...[...Map.groupBy(cached, ({ agent }) => agent).values()].flatMap((own) =>
        wronglyCached(
          own,
          this.worksFor((_, { key }) => key),
        ),
      ),
      ...cached
        .filter(({ correlation, cachedFrom }) => this.round.known.has(correlation) && cachedFrom === null)
        .filter(({ agent, key, definition }) =>
          cached.some(
            (other) =>
              other.state === 'completed' &&
              !this.round.known.has(other.correlation) &&
              other.agent === agent &&
              other.key === key &&
              other.definition === definition,
          ),
        )
        .map(({ correlation }) => `${correlation} was asked although an equal one had been answered`),
    ];
  }

  private has(agent: Agent): FlowRules {
    return this.round.files[0]!.of[agent];
  }

  /** When the work came to the rules that see executions: with `debounce`, when its window had ended. */
  private triggered(agent: Agent, sent: Sent, queuedAt: number | undefined): Sent {
    if (!this.has(agent).hasDebounce || queuedAt === undefined) return sent;
    return { from: queuedAt - 1, until: queuedAt + LONGEST_COMMIT_MS };
  }

  /** Correlation → what a rule sees of its work. Null if the rule is not of its agent. */
  private worksFor<T>(
    seen: (agent: Agent, payload: Payload, sent: Sent, correlation: string) => T | null,
  ): Map<string, T> {
    return this.seenFor(this.round.works, seen);
  }

  private seenFor<T>(
    works: ReadonlyMap<string, Work>,
    seen: (agent: Agent, payload: Payload, sent: Sent, correlation: string) => T | null,
  ): Map<string, T> {
    return new Map(
      [...works].flatMap(([correlation, { agent, payload, sent }]) => {
        const own = seen(agent, payload, sent, correlation);
        return own === null ? [] : [[correlation, own] as const];
      }),
    );
  }
}

/** Correlation → the time of its first entry. */
const firstEntries = (log: readonly Logged[]): Map<string | null, number> =>
  new Map(log.toReversed().map(({ correlation_id: id, at }) => [id, Number(at)]));

function gatheredBy(agent: string): Gathered {
  if (agent === 'packer') return { least: 1, most: LARGEST_PACK };
  const count = agent === 'joiner' ? 2 : 1;
  return { least: count, most: count };
}

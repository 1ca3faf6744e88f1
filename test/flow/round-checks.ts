import { readFileSync } from 'node:fs';

import { tickBreaches } from '../schedules/tick-invariants.js';
import { jsonField, type TestDatabase } from '../support/database.js';
import { wronglyCached } from './cache-model.js';
import { type Keyed, wronglyCancelled } from './cancel-model.js';
import { livesIn, wronglyRenewed, wronglySkipped } from './conflict-model.js';
import { wronglySuperseded } from './debounce-model.js';
import { type Logged, readLog } from './execution-log.js';
import { unfair } from './fair-model.js';
import { type Gathered, type GatheredInput, wronglyGathered, wronglyGiven } from './gather-model.js';
import { LimitModel } from './limit-model.js';
import { type Pause, startedInPauses } from './pause-model.js';
import { outOfOrder } from './priority-model.js';
import { type Agent, AT_MOST_MS, KEYS, LARGEST_PACK, type RandomRules, SCHEDULE } from './random-rules.js';
import type { Sent } from './sent.js';
import type { Payload, Work } from './work.js';

/** Processes look by themselves every 1.5 s. */
const LONGEST_IDLE_MS = 2_000;
/** A process finds the deadlines of one that has ended within five seconds. */
const LATEST_DEADLINE_MS = 6_000;
const ALL_KEYS = Array.from({ length: KEYS }, (_, n) => n + 1);

/** All that happened in a round that has ended. */
export interface PlayedRound {
  rules: RandomRules;
  rows: TestDatabase['rows'];
  /** By the correlations. */
  works: ReadonlyMap<string, Work>;
  recalls: ReadonlyMap<string, Keyed>;
  /** Clients have cancelled these correlations. */
  cancelled: ReadonlySet<string>;
  /** The executions of these correlations must take an earlier answer. */
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
      ([id, { agent }]) => !(this.round.cancelled.has(id) && (agent === 'last' || agent === 'packer')),
    );
    return [
      ...wronglyGathered(inputs, gatheredBy),
      ...wronglyGiven(
        inputs,
        due.map(([id]) => id),
      ),
    ];
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
    const { all, partsOf } = this.round.rules;
    const limited = this.worksFor((agent, { key }) => ({ agent, limits: partsOf[agent], key, units: key }));
    const model = new LimitModel(all, limited, { longestMs: LONGEST_IDLE_MS, between: this.round.between });
    for (const entry of log) model.read(entry);
    const fair = this.worksFor((agent, { tenant, weight }) =>
      agent === 'fair' ? { key: tenant!, weight: weight! } : null,
    );
    const ranked = this.worksFor((agent, { urgency }, sent) =>
      agent === 'urgent' ? { priority: urgency!, sent } : null,
    );
    const inLine = (key: number) =>
      this.worksFor((agent, payload, sent) =>
        agent === 'single' && payload.key === key ? { priority: 0, sent } : null,
      );
    return [
      ...model.breaches,
      ...model.left.map((id) => `${id} has not ended`),
      ...startedInPauses(log, this.round.works, this.round.pauses),
      ...unfair(log, fair),
      ...outOfOrder(log, ranked),
      ...ALL_KEYS.flatMap((key) => outOfOrder(log, inLine(key))),
    ];
  }

  private async wronglyEnded(log: readonly Logged[]): Promise<string[]> {
    const { rows } = this.round;
    const executions = (
      await rows<Execution>(
        'select id, correlation_id as correlation, state, cancelled_by, skipped_for, superseded_by, cached_from, ended_at from executions',
      )
    ).map((execution) => ({ ...execution, ...this.round.works.get(execution.correlation)! }));
    const artifacts = await rows<{ id: string; correlation: string }>(
      `select id, correlation_id as correlation from artifacts where type in ('Recall', 'For_last', 'For_renewer')`,
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
    const cancellable = executions
      .filter(({ agent }) => agent === 'carrier')
      .map(({ correlation, state, cancelled_by: by, ended_at: endedAt }) => {
        return { correlation, state, cancelledBy: by && correlationOf.get(by)!, endedAt: Number(endedAt) };
      });
    const executionOf = new Map(executions.map(({ id, correlation }) => [id, correlation]));
    const lives = livesIn(log);
    const skippers = executions
      .filter(({ agent }) => agent === 'skipper')
      .map(({ correlation, state, payload: { key }, skipped_for: by }) => {
        return { correlation, state, key, because: by && executionOf.get(by)! };
      });
    const renewers = executions
      .filter(({ agent }) => agent === 'renewer')
      .map(({ correlation, state, payload: { key }, cancelled_by: by }) => {
        return { correlation, state, key, because: by && correlationOf.get(by)! };
      });
    const queuedAt = new Map(log.toReversed().map(({ correlation_id: id, at }) => [id, Number(at)]));
    const debounced = executions
      .filter(({ agent }) => agent === 'last')
      .map(({ correlation, state, superseded_by: by }) => {
        const supersededBy = by && correlationOf.get(by)!;
        return { correlation, state, supersededBy, queuedAt: queuedAt.get(correlation)! };
      });
    const cached = executions
      .filter(({ agent }) => agent === 'translator')
      .map(({ id, correlation, state, cached_from: cachedFrom }) => ({
        ...{ id, correlation, state, cachedFrom },
        answers: (answers.get(correlation) ?? []).map(({ by }) => by),
        starts: new Set(leases.get(correlation)?.map(({ lease_token: lease }) => lease)).size,
        invocations: invocations.get(correlation)?.length ?? 0,
      }));
    const keyed = this.worksFor((_, { key }, sent) => ({ key, sent }));
    return [
      ...wronglySkipped(skippers, lives),
      ...wronglyRenewed(renewers, lives, this.round.between),
      ...wronglyCancelled(cancellable, keyed, this.round.recalls, this.round.between),
      ...wronglySuperseded(debounced, keyed, { longestMs: AT_MOST_MS + LONGEST_IDLE_MS, between: this.round.between }),
      ...wronglyCached(
        cached,
        this.worksFor((_, { key }) => key),
      ),
      ...cached
        .filter(({ correlation, cachedFrom }) => this.round.known.has(correlation) && cachedFrom === null)
        .map(({ correlation }) => `${correlation} was asked although an equal one had been answered`),
    ];
  }

  /** Correlation → what a rule sees of its work. Null if the rule is not of its agent. */
  private worksFor<T>(seen: (agent: Agent, payload: Payload, sent: Sent) => T | null): Map<string, T> {
    return new Map(
      [...this.round.works].flatMap(([correlation, { agent, payload, sent }]) => {
        const own = seen(agent, payload, sent);
        return own === null ? [] : [[correlation, own] as const];
      }),
    );
  }
}

function gatheredBy(agent: string): Gathered {
  if (agent === 'packer') return { least: 1, most: LARGEST_PACK };
  const count = agent === 'joiner' ? 2 : 1;
  return { least: count, most: count };
}

import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import { configurationName } from '../../catalog/replay-configuration.js';
import { BASE } from '../../catalog/variants.js';
import { listed } from '../../common/names-in-messages.js';
import { toTimestamp } from '../../common/timestamp.js';
import { NEVER } from '../../queue/queue.js';
import { UNANSWERED } from '../correlations/replay-values.js';
import { TurnWaits } from '../fairness/turn-waits.repository.js';
import { isWindow, shownKeyOf } from '../joins/lock-keys.js';
import { LimitWaits } from '../limits/limit-waits.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { UsedUpLimits } from '../waits/used-up-limits.js';
import type { Explanation } from './explanation.js';
import { heldUntil } from './held-until.js';
import type { ExecutionOfInput, GroupOfArrival, Recorded } from './records.repository.js';
import type { RefusingError } from './refusing-errors.js';

/** Says what stored data shows about an artifact. It is decisive, whatever the current configuration says. */
@Injectable()
export class StoredFacts {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly processes: Processes,
    private readonly limitWaits: LimitWaits,
    private readonly turnWaits: TurnWaits,
    private readonly usedUp: UsedUpLimits,
  ) {}

  /** Returns one fact for each execution and each waiting group. */
  async of({ executions, groups }: Recorded): Promise<Explanation[]> {
    const known = await this.processes.known();
    const pending = executions.filter(({ state }) => state === 'pending');
    const limits = await this.limitWaits.texts(pending);
    const turns = await this.turnWaits.texts(pending, known);
    const concurrency = await this.usedUp.texts(pending, known);
    const waiting = groups.map((group) => ({ group, configured: this.numbers.find(group) }));
    // Groups are read before executions, so a group may have become an execution meanwhile.
    const stillWaiting = waiting.filter(
      ({ group, configured }) =>
        !executions.some(({ agent, subscription }) => agent === group.agent && subscription === configured?.index),
    );
    return [
      ...executions.map((execution) =>
        ofExecution(execution, known, {
          limit: limits.get(execution.id),
          concurrency: concurrency.get(execution.id),
          turn: turns.get(execution.id),
        }),
      ),
      ...stillWaiting.map(({ group, configured }) => ofGroup(group, configured, known)),
    ];
  }
}

/** The texts of what an execution waits for, if it does. */
interface WaitTexts {
  limit: string | undefined;
  concurrency: string | undefined;
  turn: string | undefined;
}

const ofExecution = (execution: ExecutionOfInput, known: KnownWork, texts: WaitTexts): Explanation => ({
  agent: execution.agent,
  subscription: execution.subscription,
  verdict: execution.invoked ? 'invoked' : 'triggered',
  detail: `${execution.invoked ? 'A caller named the agent, and this is its input' : 'It triggered the agent'}; the execution ${howFar(execution, known, texts)}.`,
  execution_id: execution.id,
  execution_state: execution.state,
  execution_correlation_id: execution.correlation_id,
});

function howFar(execution: ExecutionOfInput, known: KnownWork, { limit, concurrency, turn }: WaitTexts): string {
  const { agent, state, configuration, replay, attempt, available_at, ended_at } = execution;
  const { error_message, cancelled_by, cached_from, skipped_for, superseded_by, variant } = execution;
  const { paused, waitsForBudget, assignee, claimed_by } = execution;
  const until = heldUntil(execution);
  const how = variant === null || variant === BASE ? '' : `, with the variant ${variant}`;
  switch (state) {
    case 'pending':
      if (!known.hasAgent(agent)) return `waits, since no process has the agent ${agent}`;
      if (!known.hasAgent(agent, configuration))
        return `waits, since no process has the configuration ${configurationName(configuration!)} as it was when the replay began`;
      if (paused) return 'waits until the agent is resumed';
      if (waitsForBudget) return 'waits until there is room in its budget: running model calls may use the rest of it';
      if (limit !== undefined) return `waits for ${limit}`;
      if (replay === UNANSWERED)
        return 'waits for an answer from the record, because a shadow replay does not run the agent';
      if (available_at === NEVER) return 'waits until the keys of its limits and turns are computed';
      if (concurrency !== undefined) return `waits for ${concurrency}${turn === undefined ? '' : `; ${turn}`}`;
      return available_at === null
        ? `waits to be claimed${assignee === null ? '' : ` by ${assignee}`}${turn === undefined ? '' : `: ${turn}`}`
        : `waits for attempt ${attempt}, which may start at ${toTimestamp(available_at)}`;
    case 'running':
      return until === null
        ? `is running attempt ${attempt}`
        : `is held by ${claimed_by ?? 'an external worker'} until ${toTimestamp(until)}, in attempt ${attempt}`;
    case 'completed':
      return `completed at ${toTimestamp(ended_at!)}${cached_from === null ? '' : ` with the answer of the execution ${cached_from}, by cache`}${how}`;
    case 'failed':
      return `failed permanently at ${toTimestamp(ended_at!)}, in attempt ${attempt}${how}: ${error_message}`;
    case 'cancelled':
      if (skipped_for !== null)
        return `was skipped at ${toTimestamp(ended_at!)}, because the execution ${skipped_for}, whose key of singleton is the same, had not ended`;
      if (superseded_by !== null)
        return `did not run, because the artifact ${superseded_by} with the same key of debounce took its place at ${toTimestamp(ended_at!)}`;
      return `was cancelled at ${toTimestamp(ended_at!)}${cancelled_by === null ? '' : ` by the artifact ${cancelled_by}, whose key is the same`}`;
  }
}

function ofGroup(group: GroupOfArrival, configured: Subscription | undefined, known: KnownWork): Explanation {
  const { agent, opened_at, closes_at, state } = group;
  const subscription = configured?.index ?? null;
  const key = shownKeyOf(group);
  const keyed = key === null ? {} : { join_key: key };
  const times = { since: toTimestamp(opened_at), until: closes_at === null ? null : toTimestamp(closes_at) };
  if (configured?.debounce) {
    const of = key === null ? '' : ` of the key ${key}`;
    const detail = `It is the last artifact${of}, and runs at ${times.until} unless another one takes its place before.`;
    return {
      agent,
      subscription,
      verdict: 'window_filling',
      detail,
      size: group.size,
      size_needed: null,
      ...keyed,
      ...times,
    };
  }
  if (isWindow(group)) {
    const needed = configured?.batch?.size ?? null;
    const end = times.until === null ? '' : ` or at ${times.until}`;
    const when = needed === null ? `cannot run: ${whyNotHere(group, known)}` : `runs with ${needed}${end}`;
    const of = key === null ? '' : ` of the key ${key}`;
    // It may be one of debounce, which the configuration no longer has.
    const kind = configured ? 'batch window' : 'window';
    const detail = `It is in a ${kind}${of} that has ${group.size} so far and ${when}.`;
    const sizes = { size: group.size, size_needed: needed };
    return { agent, subscription, verdict: 'window_filling', detail, ...sizes, ...keyed, ...times };
  }
  if (state === 'complete') {
    const detail = `All artifacts of the join are there, and where ${configured ? 'is being evaluated' : `cannot be evaluated: ${whyNotHere(group, known)}`}.`;
    return { agent, subscription, verdict: 'join_undecided', detail, ...keyed, since: times.since };
  }
  const lacking = configured?.types.filter((type) => !group.types.includes(type)) ?? [];
  const end = times.until === null ? 'without a time limit' : `until ${times.until}`;
  const detail = configured
    ? `It waits for ${listed(lacking, 'and')} with the same key, since ${times.since} and ${end}.`
    : `It has waited in a join since ${times.since} and cannot continue: ${whyNotHere(group, known)}.`;
  return { agent, subscription, verdict: 'join_waiting', detail, waiting_for: lacking, ...keyed, ...times };
}

const whyNotHere = (group: GroupOfArrival, known: KnownWork): string =>
  known.hasSubscription(group)
    ? `another process has its subscription of ${group.agent}, but this one does not`
    : `no process has its subscription of ${group.agent}`;

export const ofError = (error: RefusingError, subscription: number | null): Explanation => ({
  agent: error.agent,
  subscription,
  verdict: error.errorType,
  detail: `${error.message}.`,
  error_artifact_id: error.id,
});

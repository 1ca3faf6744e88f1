import { hash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { canonicalJson, type JsonValue } from '../../common/json.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { ExplicitOutputs } from '../../engines/engine-answers.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { Answers } from '../execution/answers.js';
import { AttemptReports } from '../execution/attempt-reports.js';
import { definitionOf } from '../execution/claimed-execution.js';
import type { EndingExecution, ExecutionFailure } from '../execution/ending-execution.js';
import { endingExecution } from '../execution/ending-execution.js';
import { outsideToken } from '../execution/lease-token.js';
import { Outcomes } from '../execution/outcomes.js';
import type { MatchedArtifact } from '../publishing/matched-artifacts.js';
import { ExternalClaims } from './external-claims.js';
import { extendLease, findLeased, type Leased } from './external-rows.js';

const TRY_AGAIN_SECONDS = 5;

/**
 * The actions of a client on an execution that it has claimed. The lease token alone authorizes it. Every method throws
 * DomainError `not_found`, `conflict` (the lease has ended) and `unavailable`.
 */
@Injectable()
export class ExternalLeases {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly claims: ExternalClaims,
    private readonly answers: Answers,
    private readonly outcomes: Outcomes,
    private readonly reports: AttemptReports,
    private readonly signals: Signals,
  ) {}

  /** Extends the lease by the agent's `timeout`. Returns its new end (epoch ms). */
  async renew(id: string, leaseToken: string): Promise<number> {
    const row = await this.find(id);
    if (!isHeldBy(row, leaseToken)) throw notHeld(row);
    const { timeoutMs } = this.agent(row.agent);
    // A remote agent may send a heartbeat before its 202 arrives. Until then the process that called it owns the lease
    // and measures the timeout.
    if (row.lease_owner !== null) return (row.attempt_started_at ?? row.created_at) + timeoutMs;
    const until = this.clock.now() + timeoutMs;
    const isExtended = await this.unitOfWork.run((tx) => extendLease(tx, id, row.lease_token!, until));
    if (!isExtended) throw notHeld(await this.find(id));
    this.signals.leaseDeferred.publish(until);
    return until;
  }

  /**
   * Completes the execution with this answer, in the form of `execution/outputs.ts`. A repeated request with the same
   * lease changes nothing. DomainError `conflict` if that request has another answer, `invalid` if the answer cannot be
   * published; the lease then continues.
   */
  async complete(id: string, leaseToken: string, answer: ExplicitOutputs | JsonValue | undefined): Promise<void> {
    const row = await this.find(id);
    const answerDigest = digestOf(answer);
    if (wasEnded(row, leaseToken, 'completed')) return refuseOtherAnswer(row, answerDigest);
    const agent = this.agent(row.agent);
    const execution = { ...(await this.held(row, leaseToken)), answerDigest };
    const outcome = await this.commit(execution, agent, answer);
    if (outcome === 'discarded') refuseOtherAnswer(await this.findEnded(id, leaseToken, 'completed'), answerDigest);
    else this.ended(row, execution, { outcome });
  }

  /**
   * Puts the execution back into the queue with the same attempt. A repeated request with the same lease changes
   * nothing. DomainError `invalid` for a remote agent: it would be called again immediately, and could release again
   * forever.
   */
  async release(id: string, leaseToken: string): Promise<void> {
    const row = await this.find(id);
    if (wasReleased(row, leaseToken)) return;
    if (!isHeldBy(row, leaseToken)) throw notHeld(row);
    if (!isExternal(this.agent(row.agent)))
      throw new DomainError(
        'invalid',
        `Execution ${id}: ${row.agent} is not an external agent; fail the attempt instead of releasing it`,
      );
    await this.claims.handBack([{ id, agent: row.agent, leaseToken: row.lease_token!, limitKeys: row.limit_keys }]);
    const after = await this.find(id);
    if (!wasReleased(after, leaseToken)) throw notHeld(after);
  }

  /**
   * Fails the attempt. The agent's `retry` decides about the next one. A repeated request with the same lease changes
   * nothing.
   */
  async fail(id: string, leaseToken: string, failure: ExecutionFailure): Promise<void> {
    const row = await this.find(id);
    if (wasEnded(row, leaseToken, 'failed')) return;
    const execution = await this.held(row, leaseToken);
    // The agent's configuration decides whether another attempt follows, so this process must have it.
    if (!failure.isFinal) this.agent(row.agent);
    const outcome = await this.outcomes.failAttempt(execution, failure, () => undefined);
    if (outcome === 'discarded') await this.findEnded(id, leaseToken, 'failed');
    else this.ended(row, execution, { outcome, failure });
  }

  private async commit(
    execution: EndingExecution,
    agent: AgentDefinition,
    answer: unknown,
  ): Promise<'completed' | 'failed' | 'discarded'> {
    const checked = await this.answers.check(execution, agent, answer);
    if ('problem' in checked) throw new DomainError('invalid', checked.problem);
    try {
      const matched: MatchedArtifact[] = [];
      await this.answers.match(execution, checked.drafts, matched);
      return await this.outcomes.complete(execution, matched, () => undefined);
    } finally {
      checked.memory?.release();
    }
  }

  private ended(row: Leased, execution: EndingExecution, result: Parameters<AttemptReports['ended']>[1]): void {
    this.reports.ended(execution, result, Math.max(this.clock.now() - (row.attempt_started_at ?? row.created_at), 0));
    // A place within the agent's concurrency is free.
    this.signals.executionReady.publish(row.agent);
    this.claims.freeLimits(row.limit_keys);
  }

  private async held(row: Leased, leaseToken: string): Promise<EndingExecution> {
    if (!isHeldBy(row, leaseToken)) throw notHeld(row);
    const ending = await endingExecution(this.unitOfWork.reader, { ...row, queue: row.agent }, row.lease_token!);
    return {
      ...ending,
      span: this.reports.span({ ...ending, traceparent: row.traceparent }),
      fromOutside: true,
      definition: definitionOf(this.catalog, row.agent),
    };
  }

  /** A simultaneous duplicate of the request may have ended the execution, which is not an error; a lost lease is. */
  private async findEnded(id: string, leaseToken: string, as: EndedAs): Promise<Leased> {
    const row = await this.find(id);
    if (!wasEnded(row, leaseToken, as)) throw notHeld(row);
    return row;
  }

  private async find(id: string): Promise<Leased> {
    const row = await findLeased(this.unitOfWork.reader, id);
    if (!row) throw new DomainError('not_found', `Execution not found: ${id}`);
    return row;
  }

  private agent(name: string): AgentDefinition {
    const agent = this.catalog.agent(name);
    if (agent) return agent;
    const message = `This process does not have the agent ${name}; try again, because another process may answer`;
    throw new DomainError('unavailable', message, { retryAfterSeconds: TRY_AGAIN_SECONDS });
  }
}

type EndedAs = 'completed' | 'failed';

const isHeldBy = ({ id, state, lease_token }: Leased, leaseToken: string): boolean =>
  state === 'running' && isLease(lease_token, id, leaseToken);

const wasReleased = ({ id, released_lease }: Leased, leaseToken: string): boolean =>
  isLease(released_lease, id, leaseToken);

/** Whether a request with this lease has already ended the attempt in this way. */
function wasEnded({ id, state, ended_lease }: Leased, leaseToken: string, as: EndedAs): boolean {
  return isLease(ended_lease, id, leaseToken) && (state === 'completed') === (as === 'completed');
}

const digestOf = (answer: ExplicitOutputs | JsonValue | undefined): string =>
  hash(
    'sha256',
    canonicalJson(answer instanceof ExplicitOutputs ? { outputs: answer.outputs as JsonValue[] } : (answer ?? null)),
    'base64url',
  );

function refuseOtherAnswer({ id, ended_at, ended_answer }: Leased, answerDigest: string): void {
  if (ended_answer === null || ended_answer === answerDigest) return;
  throw new DomainError(
    'conflict',
    `Execution ${id} was completed at ${toTimestamp(ended_at!)} with another answer, which it keeps; GET /api/v1/executions/${id} shows its outputs`,
  );
}

/** Whether the client's token is that of this lease of the execution. */
const isLease = (lease: string | null, executionId: string, leaseToken: string): boolean =>
  lease !== null && outsideToken(lease, executionId) === leaseToken;

/** The error for a lease that no longer holds, with the reason. */
function notHeld({ id, state, ended_at, error_message, correlation_id, cancelled_by }: Leased): DomainError {
  switch (state) {
    case 'completed':
      return new DomainError(
        'conflict',
        `Execution ${id} was completed at ${toTimestamp(ended_at!)} and accepts no more requests`,
      );
    case 'failed':
      return new DomainError(
        'conflict',
        `Execution ${id} failed at ${toTimestamp(ended_at!)} and accepts no more requests: ${error_message}`,
      );
    case 'cancelled':
      return new DomainError(
        'conflict',
        `Execution ${id} was cancelled at ${toTimestamp(ended_at!)}, ${cancelled_by === null ? `with its correlation ${correlation_id}` : `by the artifact ${cancelled_by}`}, and accepts no more requests`,
      );
    default:
      return new DomainError(
        'conflict',
        `This lease of execution ${id} expired, was released or ended its attempt; use the lease_token of its newest claim or remote request`,
      );
  }
}

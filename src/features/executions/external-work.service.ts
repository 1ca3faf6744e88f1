import { Injectable } from '@nestjs/common';

import type { HeldExecution } from '../../blackboard/external/claim-request.js';
import { ExternalClaims } from '../../blackboard/external/external-claims.js';
import { ExternalLeases } from '../../blackboard/external/external-leases.js';
import { WaitingClaims } from '../../blackboard/external/waiting-claims.js';
import type { Piece } from '../../blackboard/queries/stored-pieces.js';
import { StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { Catalog } from '../../catalog/catalog.js';
import { DomainError } from '../../common/domain-error.js';
import type { HeldRequest } from '../../common/held-request.js';
import { lastFields } from '../../common/json.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { toTimestamp } from '../../common/timestamp.js';
import { ExplicitOutputs } from '../../engines/engine-answers.js';
import type { ClaimOneRequest, ClaimRequestBody } from './dto/claim-request-body.js';
import type { LeaseBody } from './dto/held-execution-body.js';
import type { CompleteRequest, FailRequest, LeaseRequest } from './dto/lease-requests.js';
import { formOf } from './execution.js';
import { ExecutionsService } from './executions.service.js';

/** Gives executions of external agents to remote workers and people, and takes their results. */
@Injectable()
export class ExternalWorkService {
  constructor(
    private readonly catalog: Catalog,
    private readonly waitingClaims: WaitingClaims,
    private readonly claims: ExternalClaims,
    private readonly leases: ExternalLeases,
    private readonly executions: ExecutionsService,
    private readonly texts: StoredTexts,
  ) {}

  /** Returns a ClaimBody as JSON. Throws DomainError `not_found` and `invalid` (agents), `unavailable`. */
  async claim(request: ClaimRequestBody, gone: AbortSignal, body: HeldRequest): Promise<TextInParts> {
    const { agents, max = 1, wait = 0, assignee = null, claimed_by: claimedBy = null } = request;
    if (wait > 0) body.waits();
    body.releaseBody(request);
    const held = await this.waitingClaims.claim(
      { agents: [...new Set(agents)].sort(), max, assignee, claimedBy },
      wait * 1_000,
      gone,
    );
    const pieces: Piece[] = ['{"executions":['];
    for (const execution of held) pieces.push(...(pieces.length > 1 ? [','] : []), ...(await this.pieces(execution)));
    return this.texts.ofEffect([...pieces, ']}']);
  }

  /**
   * Returns a HeldExecutionBody as JSON. Throws DomainError `not_found`, `conflict` (it cannot be claimed now),
   * `invalid` (its agent is not external), `unavailable`.
   */
  async claimOne(id: string, { claimed_by }: ClaimOneRequest): Promise<TextInParts> {
    const { agent } = await this.executions.listed(id);
    this.claims.check([agent], `Execution ${id}`);
    const claim = await this.claims.claimOne(id, agent, claimed_by ?? null);
    if ('held' in claim) return this.texts.ofEffect(await this.pieces(claim.held));
    throw new DomainError(
      'conflict',
      claim.whyNot === null ? await this.whyNotWaiting(id) : `Execution ${id} cannot be claimed now: ${claim.whyNot}`,
    );
  }

  /** Like the following methods, throws the DomainErrors of ExternalLeases. */
  async heartbeat(id: string, { lease_token }: LeaseRequest): Promise<LeaseBody> {
    return { lease_until: toTimestamp(await this.leases.renew(id, lease_token)) };
  }

  /** Like the following methods, returns an ExecutionBody as JSON. */
  async release(id: string, { lease_token }: LeaseRequest): Promise<TextInParts> {
    await this.leases.release(id, lease_token);
    return this.executions.changed(id);
  }

  async complete(id: string, { lease_token, outputs, output }: CompleteRequest): Promise<TextInParts> {
    await this.leases.complete(id, lease_token, outputs ? new ExplicitOutputs(outputs) : output);
    return this.executions.changed(id);
  }

  async fail(
    id: string,
    { lease_token, error_type = 'Error', error_message, final = false }: FailRequest,
  ): Promise<TextInParts> {
    await this.leases.fail(id, lease_token, { type: error_type, message: error_message, isFinal: final });
    return this.executions.changed(id);
  }

  private async whyNotWaiting(id: string): Promise<string> {
    const { state, claimed_by, lease_until, next_attempt_at } = await this.executions.listed(id);
    if (state === 'running')
      return `Execution ${id} is held${claimed_by === null ? '' : ` by ${claimed_by}`} until ${lease_until}`;
    if (state !== 'pending') return `Execution ${id} is ${state}; only a pending execution can be claimed`;
    if (next_attempt_at !== null) return `Execution ${id} can be claimed again at ${next_attempt_at}`;
    // It was released after the claim was refused.
    return `Execution ${id} has just been released; try again`;
  }

  /** Returns the pieces of a HeldExecutionBody as JSON. */
  private async pieces(execution: HeldExecution): Promise<Piece[]> {
    const begin = JSON.stringify({
      execution_id: execution.id,
      correlation_id: execution.correlationId,
      agent: execution.agent,
      attempt: execution.attempt,
    }).slice(0, -1);
    const end = lastFields({
      lease_token: execution.token,
      lease_until: toTimestamp(execution.leaseUntil),
      assignee: execution.assignee,
      due_at: execution.dueAt === null ? null : toTimestamp(execution.dueAt),
      form: formOf(execution.agent, this.catalog)!,
      traceparent: execution.traceparent,
    });
    return [`${begin},"inputs":[`, await this.executions.inputs(execution.id), `]${end}`];
  }
}

import { Injectable } from '@nestjs/common';
import { artifactFromRow } from '../blackboard/artifact.js';
import type { HeldExecution } from '../blackboard/external/claim-request.js';
import { ExternalClaims } from '../blackboard/external/external-claims.js';
import { ExternalLeases } from '../blackboard/external/external-leases.js';
import { WaitingClaims } from '../blackboard/external/waiting-claims.js';
import { Catalog } from '../catalog/catalog.js';
import { DomainError } from '../common/domain-error.js';
import type { HeldRequest } from '../common/held-request.js';
import { toTimestamp } from '../common/timestamp.js';
import { GivenOutputs } from '../engines/given-outputs.js';
import type { ClaimOneRequest, ClaimRequestBody } from './dto/claim-request.js';
import type { ExecutionBody } from './dto/execution-body.js';
import type { ClaimBody, HeldExecutionBody, LeaseBody } from './dto/held-execution-body.js';
import type { CompleteRequest, FailRequest, LeaseRequest } from './dto/lease-requests.js';
import { ExecutionsService } from './executions.service.js';
import { formOf } from './form.js';

/** Hands executions of external agents to remote workers and people, and takes what they make of them. */
@Injectable()
export class ExternalWorkService {
  constructor(
    private readonly catalog: Catalog,
    private readonly waitingClaims: WaitingClaims,
    private readonly claims: ExternalClaims,
    private readonly leases: ExternalLeases,
    private readonly executions: ExecutionsService,
  ) {}

  /** DomainError `not_found` and `invalid` (agents), `unavailable`. */
  async claim(request: ClaimRequestBody, gone: AbortSignal, body: HeldRequest): Promise<ClaimBody> {
    const { agents, max = 1, wait = 0, assignee = null, claimed_by: claimedBy = null } = request;
    body.letGo(request);
    const held = await this.waitingClaims.claim({ agents: [...new Set(agents)].sort(), max, assignee, claimedBy }, wait * 1_000, gone);
    return { executions: held.map((execution) => this.body(execution)) };
  }

  /** DomainError `not_found`, `conflict` (it cannot be claimed now), `invalid` (its agent is not external), `unavailable`. */
  async claimOne(id: string, { claimed_by }: ClaimOneRequest): Promise<HeldExecutionBody> {
    const { agent } = await this.executions.get(id);
    this.claims.check([agent], `Execution ${id}`);
    const claim = await this.claims.claimOne(id, agent, claimed_by ?? null);
    if ('held' in claim) return this.body(claim.held);
    throw new DomainError('conflict', claim.whyNot === null ? await this.whyNotWaiting(id) : `Execution ${id} cannot be claimed now: ${claim.whyNot}`);
  }

  /** DomainErrors as those of ExternalLeases; so below. */
  async heartbeat(id: string, { lease_token }: LeaseRequest): Promise<LeaseBody> {
    return { lease_until: toTimestamp(await this.leases.renew(id, lease_token)) };
  }

  async release(id: string, { lease_token }: LeaseRequest): Promise<ExecutionBody> {
    await this.leases.release(id, lease_token);
    return this.executions.get(id);
  }

  async complete(id: string, { lease_token, outputs, output }: CompleteRequest): Promise<ExecutionBody> {
    await this.leases.complete(id, lease_token, outputs ? new GivenOutputs(outputs) : output);
    return this.executions.get(id);
  }

  async fail(id: string, { lease_token, error_type = 'Error', error_message, final = false }: FailRequest): Promise<ExecutionBody> {
    await this.leases.fail(id, lease_token, { type: error_type, message: error_message, isFinal: final });
    return this.executions.get(id);
  }

  private async whyNotWaiting(id: string): Promise<string> {
    const { state, claimed_by, lease_until, next_attempt_at } = await this.executions.get(id);
    if (state === 'running') return `Execution ${id} is held${claimed_by === null ? '' : ` by ${claimed_by}`} until ${lease_until}`;
    if (state !== 'pending') return `Execution ${id} is ${state}; only one that waits can be claimed`;
    if (next_attempt_at !== null) return `Execution ${id} can be claimed again at ${next_attempt_at}`;
    // Given back meanwhile.
    return `Execution ${id} was held a moment ago and waits now; try again`;
  }

  private body(execution: HeldExecution): HeldExecutionBody {
    return {
      execution_id: execution.id,
      correlation_id: execution.correlationId,
      agent: execution.agent,
      attempt: execution.attempt,
      inputs: execution.inputs.map(artifactFromRow),
      lease_token: execution.token,
      lease_until: toTimestamp(execution.leaseUntil),
      assignee: execution.assignee,
      due_at: execution.dueAt === null ? null : toTimestamp(execution.dueAt),
      form: formOf(execution.agent, this.catalog)!,
      traceparent: execution.traceparent,
    };
  }
}

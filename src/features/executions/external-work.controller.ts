import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { Held } from '../../http/bodies/held-body.js';
import { ClientGone } from '../../http/connections/waiting-requests.js';
import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '../../http/openapi/documentation.js';
import { CLAIM_EXAMPLE, ClaimOneRequest, ClaimRequestBody } from './dto/claim-request-body.js';
import { ApiExecutionId, EXECUTION_EXAMPLE, ExecutionBody } from './dto/execution-body.js';
import {
  ClaimBody,
  COMPLETED_EXAMPLE,
  FAILED_ATTEMPT_EXAMPLE,
  HELD_EXAMPLE,
  HeldExecutionBody,
  LEASE_EXAMPLE,
  LeaseBody,
  RELEASED_EXAMPLE,
} from './dto/held-execution-body.js';
import {
  ApiCompletion,
  CompleteRequest,
  FAIL_EXAMPLE,
  FailRequest,
  LEASE_TOKEN_EXAMPLE,
  LeaseRequest,
} from './dto/lease-requests.js';
import { ExternalWorkService } from './external-work.service.js';

const NOT_FOUND = `Execution not found: ${EXECUTION_EXAMPLE.id}`;
const NOT_EXTERNAL = `Execution ${EXECUTION_EXAMPLE.id}: classifier is not an external agent; its executions cannot be claimed`;
const LOST = `This lease of execution ${EXECUTION_EXAMPLE.id} expired, was released or ended its attempt; use the lease_token of its newest claim or remote request`;

@ApiTags('External work')
@Controller('api/v1/executions')
export class ExternalWorkController {
  constructor(private readonly work: ExternalWorkService) {}

  @Post('claim')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Claim executions of external agents',
    description:
      'Claims waiting executions by priority, then oldest first. With `assignee`, only those assigned to it; without ' +
      'it, only unassigned ones. Each gets a lease for the `timeout` of its agent, which heartbeats renew.',
  })
  @ApiBody({ type: ClaimRequestBody, examples: { claim: { value: CLAIM_EXAMPLE } } })
  @ApiOkResponse({ type: ClaimBody, description: 'The claimed executions', example: { executions: [HELD_EXAMPLE] } })
  @ApiErrors(
    [400, 'assignee: must name an assignee, because the configuration assigns the executions of approver (to anna)'],
    [404, 'Agent not found: aprover; did you mean approver?'],
    503,
  )
  claim(
    @Body() request: ClaimRequestBody,
    @ClientGone() gone: AbortSignal,
    @Held() held: HeldRequest,
  ): Promise<TextInParts> {
    return this.work.claim(request, gone, held);
  }

  @Post(':execution_id/claim')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Claim one execution',
    description: 'Claims an execution that was chosen from the list of executions.',
  })
  @ApiExecutionId()
  @ApiBody({ type: ClaimOneRequest, examples: { claim: { value: { claimed_by: 'anna' } } } })
  @ApiOkResponse({ type: HeldExecutionBody, description: 'The claimed execution', example: HELD_EXAMPLE })
  @ApiErrors(
    [400, NOT_EXTERNAL],
    [404, NOT_FOUND],
    [409, `Execution ${EXECUTION_EXAMPLE.id} is held by anna until ${LEASE_EXAMPLE.lease_until}`],
    503,
  )
  claimOne(@Param('execution_id') id: string, @Body() request: ClaimOneRequest): Promise<TextInParts> {
    return this.work.claimOne(id, request);
  }

  @Post(':execution_id/heartbeat')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Renew the lease of an execution',
    description: 'Extends the lease to the `timeout` of its agent from now.',
  })
  @ApiExecutionId()
  @ApiBody({ type: LeaseRequest, examples: { heartbeat: { value: { lease_token: LEASE_TOKEN_EXAMPLE } } } })
  @ApiOkResponse({ type: LeaseBody, description: 'The new end of the lease', example: LEASE_EXAMPLE })
  @ApiErrors([404, NOT_FOUND], [409, LOST], 503)
  heartbeat(@Param('execution_id') id: string, @Body() request: LeaseRequest): Promise<LeaseBody> {
    return this.work.heartbeat(id, request);
  }

  @Post(':execution_id/release')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Release a claimed execution',
    description:
      'The execution is pending again immediately, for the same attempt, and others can claim it. Releasing again ' +
      'with the same lease token changes nothing.',
  })
  @ApiExecutionId()
  @ApiBody({ type: LeaseRequest, examples: { release: { value: { lease_token: LEASE_TOKEN_EXAMPLE } } } })
  @ApiOkResponse({
    type: ExecutionBody,
    description: 'The execution, now pending or already claimed again',
    example: RELEASED_EXAMPLE,
  })
  @ApiErrors(
    [
      400,
      `Execution ${EXECUTION_EXAMPLE.id}: archive is not an external agent; fail the attempt instead of releasing it`,
    ],
    [404, NOT_FOUND],
    [409, LOST],
    503,
  )
  release(@Param('execution_id') id: string, @Body() request: LeaseRequest): Promise<TextInParts> {
    return this.work.release(id, request);
  }

  @Post(':execution_id/complete')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Complete a claimed execution, or one that a remote agent answers later',
    description:
      'Publishes the outputs as the answer of the agent. When they are refused, the lease stays valid, so that a ' +
      'corrected request can follow. Completing again with the same lease token and the same answer changes nothing; ' +
      'with another answer it is a 409.',
  })
  @ApiExecutionId()
  @ApiCompletion()
  @ApiOkResponse({ type: ExecutionBody, description: 'The completed execution', example: COMPLETED_EXAMPLE })
  @ApiErrors(
    [400, 'outputs[0]: Approval refuses its payload: payload.approved: must be boolean'],
    [404, NOT_FOUND],
    [409, LOST],
    503,
  )
  complete(@Param('execution_id') id: string, @Body() request: CompleteRequest): Promise<TextInParts> {
    return this.work.complete(id, request);
  }

  @Post(':execution_id/fail')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Fail the attempt of a claimed execution',
    description:
      'The `retry` of its agent decides whether another attempt follows. Failing again with the same lease token ' +
      'changes nothing.',
  })
  @ApiExecutionId()
  @ApiBody({ type: FailRequest, examples: { fail: { value: FAIL_EXAMPLE } } })
  @ApiOkResponse({
    type: ExecutionBody,
    description: 'The execution, which is pending for its next attempt or has failed',
    example: FAILED_ATTEMPT_EXAMPLE,
  })
  @ApiErrors([404, NOT_FOUND], [409, LOST], 503)
  fail(@Param('execution_id') id: string, @Body() request: FailRequest): Promise<TextInParts> {
    return this.work.fail(id, request);
  }
}

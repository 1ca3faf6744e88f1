import { Injectable } from '@nestjs/common';
import { Catalog } from '../catalog/catalog.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { newId } from '../common/ids.js';
import type { JsonObject } from '../common/json.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { artifactFromRow } from './artifact.js';
import { type ArtifactDraft, ArtifactWriter } from './artifact-writer.js';
import type { DirectRun } from './blackboard.js';
import { CorrelationTracker } from './correlation-tracker.js';
import { CorrelationWaiters } from './correlation-waiters.js';
import { ExecutionQueue } from './executor/execution-queue.js';
import { fittingSubscription } from './input-fit.js';
import { Publisher } from './publisher.js';

/** One execution of one agent, asked for by name; no agent reacts to its inputs and outputs. */
@Injectable()
export class DirectRuns {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly publisher: Publisher,
    private readonly writer: ArtifactWriter,
    private readonly executions: ExecutionQueue,
    private readonly waiters: CorrelationWaiters,
  ) {}

  /** What `Blackboard.runAgent` promises. */
  async run(name: string, inputs: { type: string; payload: JsonObject }[], correlationId: string): Promise<DirectRun> {
    const agent = this.catalog.agent(name);
    if (!agent) throw new DomainError('not_found', `Agent not found: ${name}`);
    const { executionId, opening } = await this.enqueue(agent, inputs, correlationId);
    const ended = await this.waiters.wait(correlationId, opening, Number.MAX_SAFE_INTEGER);
    if (!ended) throw new DomainError('unavailable', `The service is stopping; ${name} goes on after its next start in correlation ${correlationId}`);
    return { correlationId, artifacts: await this.outputsOf(name, executionId) };
  }

  private enqueue(
    agent: AgentDefinition,
    inputs: { type: string; payload: JsonObject }[],
    correlationId: string,
  ): Promise<{ executionId: string; opening: number }> {
    const subscription = fittingSubscription(agent, inputs.map(({ type }) => type));
    const drafts = inputs.map((input, position) => this.draft(input, correlationId, `inputs[${position}]`));
    return this.unitOfWork.run(async (tx) => {
      const changes = this.tracker.begin(tx, this.clock.now());
      const correlation = await changes.open(correlationId);
      const positions: number[] = [];
      for (const draft of drafts) {
        positions.push((await this.writer.insert(tx, draft))!);
        this.writer.count(correlation, draft);
      }
      const executionId = await this.executions.add(tx, changes, {
        agent: agent.name,
        priority: subscription.priority,
        correlationId,
        inputs: positions,
        batch: subscription.batch !== null,
        direct: true,
      });
      await changes.save();
      // Its correlation is its own, so that no limit can have been reached in it.
      return { executionId: executionId!, opening: correlation.opening };
    });
  }

  private draft({ type, payload }: { type: string; payload: JsonObject }, correlationId: string, path: string): ArtifactDraft {
    try {
      return this.publisher.draft({ artifactId: newId(), correlationId, type, payload, tags: [], partitionKey: null });
    } catch (error) {
      throw error instanceof DomainError ? new DomainError(error.code, `${path}: ${error.message}`) : error;
    }
  }

  private async outputsOf(agent: string, executionId: string): Promise<DirectRun['artifacts']> {
    const { reader } = this.unitOfWork;
    const execution = await reader.selectFrom('executions').select(['state', 'error_message']).where('id', '=', executionId).executeTakeFirstOrThrow();
    if (execution.state !== 'completed') {
      throw new DomainError('agent_failed', `Agent ${agent} failed: ${execution.error_message ?? execution.state}`);
    }
    const rows = await reader.selectFrom('artifacts').selectAll().where('execution_id', '=', executionId).orderBy('seq').execute();
    return rows.map(artifactFromRow);
  }
}

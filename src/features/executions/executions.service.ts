import { Injectable } from '@nestjs/common';

import { FailedExecutions } from '../../blackboard/execution/failed-executions.js';
import { Admission } from '../../blackboard/publishing/admission.js';
import { findInputs, findOutputs } from '../../blackboard/queries/execution-artifact-rows.js';
import type { Item, Piece } from '../../blackboard/queries/stored-pieces.js';
import { type FindRows, StoredTexts } from '../../blackboard/queries/stored-texts.js';
import type { WireRow } from '../../blackboard/queries/wire-rows.js';
import { ExecutionsWithoutAgent } from '../../blackboard/scheduling/executions-without-agent.js';
import { Catalog } from '../../catalog/catalog.js';
import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { DomainError } from '../../common/domain-error.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ListedExecutionBody } from './dto/execution-body.js';
import { executionPieces, formOf, listedExecutionBody } from './execution.js';
import { type ExecutionRow, ExecutionsRepository } from './executions.repository.js';

/** Shows executions, and retries failed ones. */
@Injectable()
export class ExecutionsService {
  constructor(
    private readonly settings: Settings,
    private readonly admission: Admission,
    private readonly failedExecutions: FailedExecutions,
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly executions: ExecutionsRepository,
    private readonly withoutAgent: ExecutionsWithoutAgent,
    private readonly texts: StoredTexts,
  ) {}

  /** Returns an ExecutionBody as JSON. Throws DomainError `not_found`. */
  async get(id: string): Promise<TextInParts> {
    return this.texts.of(await this.pieces(id));
  }

  /** Returns an ExecutionBody as JSON for a caller that has just changed the execution. */
  async changed(id: string): Promise<TextInParts> {
    return this.texts.ofEffect(await this.pieces(id));
  }

  /** Returns the execution without its artifacts and attempts. Throws DomainError `not_found`. */
  async listed(id: string): Promise<ListedExecutionBody> {
    return listedExecutionBody(await this.row(id), [], this.settings);
  }

  /** Returns the inputs in the order in which the agent receives them. */
  inputs(executionId: string): Promise<Item[]> {
    const find: FindRows<WireRow & { place: number }> = (after, limit, most) =>
      findInputs(this.unitOfWork.reader, { executionId, after, limit, most });
    return this.texts.itemsAlong(find, -1, undefined, ({ place }) => place);
  }

  /**
   * Returns an ExecutionBody as JSON. Throws DomainError `not_found`, `conflict` (it cannot be retried), `unavailable`.
   */
  async retry(id: string): Promise<TextInParts> {
    await this.admission.refuseWhenBusy();
    await this.unitOfWork.run((tx) => this.failedExecutions.retry(tx, id));
    return this.changed(id);
  }

  private async pieces(id: string): Promise<Piece[]> {
    const { reader } = this.unitOfWork;
    const row = await this.row(id);
    const [inputs, outputs, errors, attempts, modelUses, toolCalls, lacking] = await Promise.all([
      this.inputs(id),
      this.outputs(id, ({ type }) => type !== WORKFLOW_ERROR),
      this.outputs(id, ({ type }) => type === WORKFLOW_ERROR),
      this.executions.failedAttempts(reader, id),
      this.executions.modelUses(reader, id),
      this.executions.toolCalls(reader, id),
      row.state === 'pending' ? this.withoutAgent.agents() : [],
    ]);
    return executionPieces(row, {
      inputs,
      outputs,
      errors,
      attempts,
      modelUses,
      toolCalls,
      form: formOf(row.agent, this.catalog),
      lacking,
      settings: this.settings,
    });
  }

  private async row(id: string): Promise<ExecutionRow> {
    const row = await this.executions.find(this.unitOfWork.reader, id);
    if (!row) throw new DomainError('not_found', `Execution not found: ${id}`);
    return row;
  }

  private outputs(executionId: string, isWanted: (row: WireRow) => boolean): Promise<Item[]> {
    return this.texts.itemsAlong(
      (after, limit, most) => findOutputs(this.unitOfWork.reader, { executionId, after, limit, most }),
      0,
      isWanted,
    );
  }
}

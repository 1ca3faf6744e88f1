import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { type AgentDefinition, OUTSIDE } from '../../catalog/definitions.js';
import { overrideOf, type ReplayChanges } from '../../catalog/overrides.js';
import { DomainError } from '../../common/domain-error.js';
import type { ReplayMode } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { effectOf } from '../../engines/effects.js';
import { modelOf } from '../../engines/llm/llm-options.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import type { CorrelationRecord, CurrentAgents } from './answered-work.js';
import type { Original } from './originals.js';
import {
  findFirstUses,
  findRecordedArtifacts,
  findRecordedExecutions,
  findRecordedInputs,
  findUsesElsewhere,
  hasLostExecutions,
} from './record-rows.js';

/** Artifacts of one correlation that a replay takes from the record, in one transaction. */
const MOST_RECORDED = 2_000;

/** Reads the record of a correlation, and compares the agents with it. */
@Injectable()
export class Records {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** DomainError `conflict` if there is too much, or if retention has deleted some of it. */
  async read({ id, invoked, artifacts: given }: Original): Promise<CorrelationRecord> {
    const { reader } = this.unitOfWork;
    const artifacts = await findRecordedArtifacts(reader, id, MOST_RECORDED + 1);
    if (artifacts.length > MOST_RECORDED)
      throw new DomainError(
        'conflict',
        `Correlation ${id} has more than ${MOST_RECORDED} artifacts, which are too many to answer from the record; replay it with mode full`,
      );
    // Without them, the replay would neither run nor answer the agents that they ran.
    if (await hasLostExecutions(reader, id))
      throw new DomainError(
        'conflict',
        `Retention has deleted executions of correlation ${id}, so its record is not complete; replay it with mode full`,
      );
    const inputs = await findRecordedInputs(reader, id);
    const replayed = new Set(given.map(({ seq }) => seq));
    return {
      id,
      // A replay of one artifact leaves out the others of clients, and everything that follows from them.
      artifacts: artifacts.filter(({ seq, produced_by }) => !OUTSIDE.includes(produced_by) || replayed.has(seq)),
      executions: await findRecordedExecutions(reader, id),
      inputs: Map.groupBy(inputs, ({ execution_id }) => execution_id),
      usesElsewhere: await findUsesElsewhere(reader, id),
      invokedId: invoked?.id ?? null,
    };
  }

  /**
   * Agents of which something is overridden count as changed, and in a shadow replay so do those whose model it asks
   * again. An agent that has several variants is unchanged with each of them. An agent of another configuration has the
   * definition of that one. DomainError `conflict` if this process lacks that configuration: its agents would seem to be
   * unchanged.
   */
  async currentAgents(
    original: Original,
    mode: ReplayMode,
    { configuration, overrides }: ReplayChanges,
  ): Promise<CurrentAgents> {
    if (!this.catalog.canReplay(configuration)) throw lacksConfiguration(configuration!.name);
    const { reader } = this.unitOfWork;
    const { agents } = this.catalog;
    const catalogOf = (agent: string): Catalog => this.catalog.forReplay(agent, configuration);
    const settledAt = (await findCorrelation(reader, original.id))?.settled_at ?? 0;
    const digests = agents.flatMap(({ name }) => catalogOf(name).digestsOf(name));
    const uses = digests.length > 0 ? await findFirstUses(reader, {}, digests) : [];
    const old = new Set(uses.filter(({ first_used_at }) => first_used_at <= settledAt).map(({ digest }) => digest));
    const isAskedAgain = (agent: string): boolean => mode === 'shadow' && isAsked(catalogOf(agent).agent(agent));
    const isTaken = (agent: string): boolean => !isAskedAgain(agent) && !overrideOf(overrides, agent);
    return {
      agents,
      isCurrent: (agent, digest) => isTaken(agent) && catalogOf(agent).hasDefinition(agent, digest),
      isAsOld: (agent) =>
        isTaken(agent) &&
        catalogOf(agent)
          .digestsOf(agent)
          .some((digest) => old.has(digest)),
    };
  }
}

const lacksConfiguration = (name: string): DomainError =>
  new DomainError('conflict', `The process that got this request does not have the configuration ${name}`);

const isAsked = (agent: AgentDefinition | undefined): boolean =>
  agent !== undefined && modelOf(agent) !== null && effectOf(agent) === null;

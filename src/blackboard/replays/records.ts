import { Injectable } from '@nestjs/common';

import { Catalog, digestsOf } from '../../catalog/catalog.js';
import { type AgentDefinition, OUTSIDE } from '../../catalog/definitions.js';
import { overrideOf, type Overrides } from '../../catalog/overrides.js';
import type { ConfiguredDefinition } from '../../catalog/stored-definition.js';
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
   * again. An agent that has several variants is unchanged with each of them.
   */
  async currentAgents(original: Original, mode: ReplayMode, overrides: Overrides | null): Promise<CurrentAgents> {
    const { reader } = this.unitOfWork;
    const { definitions } = this.catalog;
    const settledAt = (await findCorrelation(reader, original.id))?.settled_at ?? 0;
    const digests = [...definitions.values()].flatMap(digestsOf);
    const uses = digests.length > 0 ? await findFirstUses(reader, {}, digests) : [];
    const old = new Set(uses.filter(({ first_used_at }) => first_used_at <= settledAt).map(({ digest }) => digest));
    const asked = new Set(mode === 'shadow' ? this.catalog.agents.filter(isAsked).map(({ name }) => name) : []);
    const isTaken = (agent: string): boolean => !asked.has(agent) && !overrideOf(overrides, agent);
    const isOld = (own: ConfiguredDefinition | undefined): boolean =>
      own !== undefined && digestsOf(own).some((digest) => old.has(digest));
    return {
      agents: this.catalog.agents,
      isCurrent: (agent, digest) => isTaken(agent) && this.catalog.hasDefinition(agent, digest),
      isAsOld: (agent) => isTaken(agent) && isOld(definitions.get(agent)),
    };
  }
}

const isAsked = (agent: AgentDefinition): boolean => modelOf(agent) !== null && effectOf(agent) === null;

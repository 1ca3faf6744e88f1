import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { OUTSIDE, type Subscription } from '../../catalog/definitions.js';
import { DomainError } from '../../common/domain-error.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { findCorrelation, HAS_RUN } from '../correlations/correlation-rows.js';
import { originKindIn, variantsFrom } from '../correlations/replay-options.js';
import type { CorrelationRow } from '../correlations/tracked-correlation.js';
import { fittingSubscription } from '../publishing/input-fit.js';
import { ArtifactStore } from '../queries/artifact-store.js';
import {
  type ClientArtifact,
  findClientArtifacts,
  findInputSeqs,
  findInvoked,
  findOrigin,
  type InvokedExecution,
} from './original-rows.js';

/** How many artifacts of clients one replay publishes. They are stored in one transaction. */
export const MOST_REPLAYED = 1_000;

/** A correlation that has ended, with the artifacts that clients gave to it. */
export interface Original {
  id: string;
  artifacts: readonly ClientArtifact[];
  /** The execution with which it began, if a caller named its agent. */
  invoked: InvokedExecution | null;
  /** The positions of its inputs. They triggered no agent. */
  invokedInputs: readonly number[];
  /** The correlation whose variants it used. */
  variantsFrom: string;
}

/** Reads what a replay repeats. */
@Injectable()
export class Originals {
  constructor(
    private readonly catalog: Catalog,
    private readonly store: ArtifactStore,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** DomainError: `not_found`, `conflict` (it has not ended, or something that it needs was deleted). */
  async ofCorrelation(id: string): Promise<Original> {
    const { reader } = this.unitOfWork;
    const correlation = await findUsable(reader, id);
    const artifacts = await findClientArtifacts(reader, id, MOST_REPLAYED + 1);
    if (artifacts.length > MOST_REPLAYED)
      throw new DomainError(
        'conflict',
        `Clients published more than ${MOST_REPLAYED} artifacts into correlation ${id}, which are too many for one replay; replay its artifacts one by one`,
      );
    if (artifacts.length === 0)
      throw new DomainError('conflict', `Correlation ${id} has no artifact of a client, so there is nothing to replay`);
    return { id, artifacts, ...(await invokedIn(reader, correlation)), variantsFrom: variantsFrom(correlation) };
  }

  /** Only this artifact of its correlation. DomainError as in `ofCorrelation`. */
  async ofArtifact(artifactId: string): Promise<Original> {
    const { reader } = this.unitOfWork;
    const row = await findOrigin(reader, artifactId);
    if (!row) throw new DomainError('not_found', `Artifact not found: ${artifactId}; retention may have deleted it`);
    if (row.execution_id !== null || !isFromOutside(row))
      throw new DomainError(
        'conflict',
        `Artifact ${artifactId} was published by ${row.produced_by}; replay its correlation ${row.correlation_id}, or an artifact of a client`,
      );
    const correlation = await findUsable(reader, row.correlation_id);
    const invoked = await invokedIn(reader, correlation);
    if (invoked.invokedInputs.includes(row.seq)) {
      if (invoked.invokedInputs.length > 1)
        throw new DomainError(
          'conflict',
          `Artifact ${artifactId} is one of ${invoked.invokedInputs.length} inputs of a run; replay its correlation ${row.correlation_id}`,
        );
    } else Object.assign(invoked, { invoked: null, invokedInputs: [] });
    const artifact = { seq: row.seq, id: row.id, type: row.type, payload_bytes: row.payload_bytes };
    return { id: row.correlation_id, artifacts: [artifact], ...invoked, variantsFrom: variantsFrom(correlation) };
  }

  /** Reads its artifacts. DomainError `conflict` if retention has deleted some meanwhile. */
  async read({ id, artifacts }: Original): Promise<ArtifactRow[]> {
    const rows = await this.store.at(artifacts.map(({ seq }) => seq));
    if (rows.length === artifacts.length) return rows;
    throw new DomainError('conflict', `Retention is deleting correlation ${id}, so it cannot be replayed`);
  }

  /**
   * The subscription of the agent that a caller has named, in the current configuration. DomainError `conflict` if there
   * is none.
   */
  invokedSubscription({ id, invoked, artifacts, invokedInputs }: Original): Subscription | null {
    if (!invoked) return null;
    const agent = this.catalog.agent(invoked.agent);
    if (!agent)
      throw new DomainError(
        'conflict',
        `Correlation ${id} began with the agent ${invoked.agent}, which the configuration does not have`,
      );
    const types = artifacts.filter(({ seq }) => invokedInputs.includes(seq)).map(({ type }) => type);
    try {
      return fittingSubscription(agent, types);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new DomainError('conflict', `Correlation ${id} cannot be replayed: ${error.message}`);
    }
  }
}

const isFromOutside = ({ produced_by }: Pick<ArtifactRow, 'produced_by'>): boolean => OUTSIDE.includes(produced_by);

async function findUsable(db: Reader, id: string): Promise<CorrelationRow> {
  const correlation = await findCorrelation(db, id);
  if (!correlation) throw new DomainError('not_found', `Correlation not found: ${id}; retention may have deleted it`);
  if (correlation.state === 'active')
    throw new DomainError(
      'conflict',
      `Correlation ${id} has not ended; wait for its end, or cancel it, and replay it then`,
    );
  if (correlation.deleted_artifacts > 0)
    throw new DomainError(
      'conflict',
      `Retention has deleted ${correlation.deleted_artifacts} of the ${correlation.artifact_count} artifacts of correlation ${id}, so it cannot be replayed`,
    );
  return correlation;
}

async function invokedIn(
  db: Reader,
  correlation: CorrelationRow,
): Promise<Pick<Original, 'invoked' | 'invokedInputs'>> {
  const invoked = await findInvoked(db, correlation.id);
  if (invoked) return { invoked, invokedInputs: await findInputSeqs(db, invoked.id) };
  if (correlation.has_run === HAS_RUN.published) return { invoked: null, invokedInputs: [] };
  // Its inputs must trigger this agent and no other.
  throw new DomainError('conflict', unknownAgentIn(correlation));
}

function unknownAgentIn({ id, origin, replay_options }: CorrelationRow): string {
  if (origin === null)
    return `Retention has deleted which agent correlation ${id} was run with, so it cannot be replayed`;
  // The experiment keeps the row, and no run names its agent.
  if (originKindIn(replay_options) === 'experiment')
    return `Correlation ${id} is a trial on a row of a CSV, which cannot be replayed; run its experiment ${origin} again instead`;
  return `Correlation ${id} repeats a run of one agent; replay the original ${origin} instead`;
}

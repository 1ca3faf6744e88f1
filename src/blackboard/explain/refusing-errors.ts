import { Injectable } from '@nestjs/common';
import { EXTERNAL, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { NO_FILTER } from '../queries/artifact-filter.js';
import { matchingAlong, routesOf, spanOf, windows } from '../queries/artifact-paths.js';
import { narrowest } from '../queries/narrowest-route.js';

/** A WorkflowError that tells why an agent was not run: a limit, an expired join, a subscription that is gone. */
export interface RefusingError {
  id: string;
  agent: string;
  errorType: 'limit' | 'join_expired' | 'agent_removed';
  message: string;
  /** Whether it names the artifact that was asked for. */
  namesArtifact: boolean;
}

interface ErrorPayload {
  failed_agent: string;
  error_type: RefusingError['errorType'];
  error_message: string;
  input_artifact_ids: string[];
}

/** Artifacts of one query. An error may name thousands of them. */
const WINDOW = 250;

/** Finds the WorkflowErrors of a correlation that belong to no execution. */
@Injectable()
export class RefusingErrors {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Those that name the artifact, and those of a limit: only the first artifact that a limit kept away is named. */
  async of(artifactId: string, correlationId: string): Promise<RefusingError[]> {
    const { reader } = this.unitOfWork;
    const { paths, rest } = await narrowest(reader, routesOf({ ...NO_FILTER, types: [WORKFLOW_ERROR], correlationId }));
    const found: RefusingError[] = [];
    for (const path of paths) {
      for await (const window of windows(reader, path, spanOf(path), WINDOW)) {
        const rows = await matchingAlong(reader, path, window, rest)
          .select(['artifacts.id', 'artifacts.payload'])
          .where('artifacts.execution_id', 'is', null)
          .where('artifacts.produced_by', '<>', EXTERNAL)
          .execute();
        found.push(...rows.map(({ id, payload }) => refusingError(id, JSON.parse(payload) as ErrorPayload, artifactId)).filter(isOfUse));
      }
    }
    return found;
  }
}

const refusingError = (id: string, payload: ErrorPayload, artifactId: string): RefusingError => ({
  id,
  agent: payload.failed_agent,
  errorType: payload.error_type,
  message: payload.error_message,
  namesArtifact: payload.input_artifact_ids.includes(artifactId),
});

const isOfUse = ({ namesArtifact, errorType }: RefusingError): boolean => namesArtifact || errorType === 'limit';

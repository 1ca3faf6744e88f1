import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { OUTSIDE, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { CorrelationState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

export interface FoundArtifact {
  id: string;
  /** JSON. */
  payload: string;
}

/** A correlation of a trial or of a judge, with its model usage. */
export interface UsedCorrelation {
  id: string;
  state: CorrelationState;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
}

/** Reads what the correlations of trials contain. */
@Injectable()
export class TrialArtifactsRepository {
  /** The last artifact of this type that agents published in the correlation. */
  async output(db: Reader, correlationId: string, type: string): Promise<FoundArtifact | undefined> {
    const [row] = await findOutput(db, { correlationId, type });
    return row;
  }

  /** The first artifact that came from outside. */
  async input(db: Reader, correlationId: string): Promise<FoundArtifact | undefined> {
    const [row] = await findInput(db, { correlationId });
    return row;
  }

  /** The first artifact that an agent published. */
  async published(db: Reader, correlationId: string, agent: string): Promise<FoundArtifact | undefined> {
    const [row] = await findPublished(db, { correlationId, agent });
    return row;
  }

  /** Which agent failed first in the correlation, and why. */
  async failure(db: Reader, correlationId: string): Promise<string | undefined> {
    const [row] = await findFailure(db, { correlationId });
    return row && `${row.agent} failed: ${row.error_message ?? 'it gave no reason'}`;
  }

  /** The last artifact of this type that follows from an artifact in its correlation, which may have others of clients. */
  async outputBehind(db: Reader, artifactId: string, type: string): Promise<FoundArtifact | undefined> {
    const { rows } = await sql<FoundArtifact>`
      with recursive behind(seq, correlation_id) as (
        select seq, correlation_id from artifacts where id = ${artifactId}
        union
        select made.seq, made.correlation_id from behind
        join execution_inputs on execution_inputs.artifact_seq = behind.seq
        join artifacts as made on made.execution_id = execution_inputs.execution_id
        where made.correlation_id = behind.correlation_id
      )
      select artifacts.id, artifacts.payload from behind join artifacts on artifacts.seq = behind.seq
      where artifacts.type = ${type} and artifacts.execution_id is not null
      order by artifacts.seq desc limit 1`.execute(db);
    return rows[0];
  }

  /** Returns those of the correlations that have begun. */
  begun(db: Reader, ids: readonly string[]): Promise<UsedCorrelation[]> {
    return findUsed(db, {}, ids);
  }
}

const findOutput = prepared<{ correlationId: string; type: string }, FoundArtifact>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(['id', 'payload'])
    .where('correlation_id', '=', place('correlationId'))
    .where('type', '=', place('type'))
    .where('produced_by', 'not in', OUTSIDE)
    .orderBy('seq', 'desc')
    .limit(1),
);

const findInput = prepared<{ correlationId: string }, FoundArtifact>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(['id', 'payload'])
    .where('correlation_id', '=', place('correlationId'))
    .where('produced_by', 'in', OUTSIDE)
    .orderBy('seq')
    .limit(1),
);

const findPublished = prepared<{ correlationId: string; agent: string }, FoundArtifact>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(['id', 'payload'])
    .where('correlation_id', '=', place('correlationId'))
    .where('produced_by', '=', place('agent'))
    .where('type', '<>', WORKFLOW_ERROR)
    .orderBy('seq')
    .limit(1),
);

const findFailure = prepared<{ correlationId: string }, { agent: string; error_message: string | null }>((db, place) =>
  db
    .selectFrom('executions')
    .select(['agent', 'error_message'])
    .where('correlation_id', '=', place('correlationId'))
    .where('state', '=', 'failed')
    .orderBy('ended_at')
    .orderBy('seq')
    .limit(1),
);

const findUsed = preparedWithList<object, string, UsedCorrelation>((db, _place, ids) =>
  db.selectFrom('correlations').select(['id', 'state', 'input_tokens', 'output_tokens', 'cost']).where('id', 'in', ids),
);

import type { ArtifactBody, ListedArtifactBody } from '../../../http/dto/artifact-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { findOrAdvise } from '../look-up.js';
import type { Field } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { toTheSecond } from '../printing/texts.js';
import { limitOf, printList, refuseFilters } from './list.js';

export interface ArtifactFilters {
  type?: string[];
  producedBy?: string[];
  correlationId?: string;
  tag?: string[];
  from?: string;
  to?: string;
  visibility?: string[];
  order?: string;
  replay?: true;
}

/** Prints the newest artifacts that match, or one with its payload. */
export async function showArtifacts(
  id: string | undefined,
  { url, json, limit, ...filters }: ClientOptions & ArtifactFilters & { limit?: string },
): Promise<void> {
  const { server, output } = connectionOf({ url, json });
  if (id === undefined) {
    return printList<ListedArtifactBody>(server, output, {
      path: '/api/v1/artifacts',
      filters: { order: 'desc', ...filters },
      limit: limitOf(limit),
      columns: COLUMNS,
      none: 'no artifact matches',
    });
  }
  refuseFilters({ ...filters, limit });
  const artifact = await findOrAdvise<ArtifactBody>(server, 'artifact', id);
  await output.thing(artifact, () => fieldsOf(artifact));
}

const LONGEST_PAYLOAD = 60;

const COLUMNS: Column<ListedArtifactBody>[] = [
  { title: 'ARTIFACT', of: ({ id }) => id },
  { title: 'TYPE', of: ({ type }) => type, style: () => 'bold' },
  { title: 'PRODUCED BY', of: (artifact) => artifact.produced_by },
  { title: 'CREATED', of: (artifact) => toTheSecond(artifact.created_at) },
  { title: 'PAYLOAD', of: ({ payload }) => JSON.stringify(payload), most: LONGEST_PAYLOAD },
  { title: 'CORRELATION', of: (artifact) => artifact.correlation_id },
  { title: 'TAGS', of: ({ tags }) => tags.join(', ') },
  { title: 'VISIBILITY', of: (artifact) => (artifact.visibility_kind === 'Public' ? null : artifact.visibility_kind) },
];

const fieldsOf = (artifact: ArtifactBody): Field[] => [
  ['artifact', artifact.id],
  ['type', `${artifact.type}, version ${artifact.version}`],
  ['produced by', artifact.produced_by],
  ['execution', artifact.execution_id],
  ['correlation', artifact.correlation_id],
  ['created', artifact.created_at],
  ['visibility', artifact.visibility.kind === 'Public' ? 'Public' : JSON.stringify(artifact.visibility)],
  ['partition', artifact.partition_key],
  ['tags', artifact.tags.join(', ')],
  ['payload', JSON.stringify(artifact.payload, null, 2)],
];

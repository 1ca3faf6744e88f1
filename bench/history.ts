import { v7 } from 'uuid';

// The history of the seeded databases. For any number of artifacts, a correlation has the same size, a tag and a time
// range match the same number, and types, producers and visibilities have the same shares.

export const PER_CORRELATION = 10;
export const PER_TAG = 1_000;

export const TYPES = ['Kind0', 'Kind1', 'Kind2', 'Kind3', 'Kind4'] as const;
export const PRODUCERS = ['external', 'sorter', 'packer', 'courier'] as const;
export const VISIBILITIES = [
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Private', agents: ['sorter'] },
  { kind: 'Labelled', required_labels: ['pii'] },
  { kind: 'Tenant', tenant_id: 'acme' },
] as const;

const BEGIN = Date.UTC(2026, 0, 1);

/** Epoch ms: an artifact a second. */
export const createdAt = (index: number): number => BEGIN + index * 1_000;

export const typeOf = (index: number) => TYPES[index % TYPES.length]!;
export const producerOf = (index: number) => PRODUCERS[Math.floor(index / TYPES.length) % PRODUCERS.length]!;
export const visibilityOf = (index: number) => VISIBILITIES[Math.floor(index / 20) % VISIBILITIES.length]!;

export const correlationOf = (index: number): string => `order-${Math.floor(index / PER_CORRELATION)}`;

/** Spread over the whole history, so that no two artifacts of a tag are close to each other in a large one. */
export const tagOf = (index: number, artifacts: number): string => `lot-${index % (artifacts / PER_TAG)}`;

/** A row of the table of that name, as publishing would have written it; likewise below. */
function artifactAt(index: number, artifacts: number) {
  const visibility = visibilityOf(index);
  return {
    seq: index + 1,
    id: v7({ msecs: createdAt(index) }),
    type: typeOf(index),
    version: 1,
    payload: JSON.stringify({ text: `Where is parcel ${index}? It was to arrive last week.` }),
    produced_by: producerOf(index),
    visibility: JSON.stringify(visibility),
    visibility_kind: visibility.kind,
    tags: JSON.stringify([tagOf(index, artifacts)]),
    correlation_id: correlationOf(index),
    created_at: createdAt(index),
  };
}

const tagAt = (index: number, artifacts: number) => ({ tag: tagOf(index, artifacts), artifact_seq: index + 1 });

/** Returns the correlation that begins at an index. */
function correlationAt(first: number) {
  const members = Array.from({ length: PER_CORRELATION }, (_, place) => first + place);
  const ended = createdAt(members.at(-1)!);
  return {
    id: correlationOf(first),
    state: 'completed',
    closed: 0,
    generation: 1,
    pending: 0,
    artifact_count: PER_CORRELATION,
    error_count: 0,
    output_count: members.filter((index) => producerOf(index) !== 'external').length,
    generation_executions: 0,
    limited_agents: '[]',
    started_at: createdAt(first),
    last_activity_at: ended,
    settled_at: ended,
  };
}

/** Rows by their table; all of a table have the same columns. */
export type Rows = Record<'artifacts' | 'artifact_tags' | 'correlations', Record<string, string | number>[]>;

/** Returns a part of a history of this many artifacts: from one index up to another one, exclusive. */
export function partOf(artifacts: number, from: number, to: number): Rows {
  const indices = Array.from({ length: to - from }, (_, place) => from + place);
  return {
    artifacts: indices.map((index) => artifactAt(index, artifacts)),
    artifact_tags: indices.map((index) => tagAt(index, artifacts)),
    correlations: indices.filter((index) => index % PER_CORRELATION === 0).map(correlationAt),
  };
}

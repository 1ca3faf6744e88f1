import { v7 } from 'uuid';

// The history of the seeded databases. For any number of artifacts, a correlation has the same size, a tag and a time
// range match the same number, and types, producers and visibilities have the same shares. The same number of
// correlations wait.

export const PER_CORRELATION = 10;
export const PER_TAG = 1_000;
const WAITING_CORRELATIONS = 10;

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

/** The first indices of the correlations that wait. */
export const waitingPlaces = (artifacts: number): number[] =>
  Array.from(
    { length: WAITING_CORRELATIONS },
    (_, place) => (place * artifacts) / WAITING_CORRELATIONS + 2 * PER_CORRELATION,
  );

/** The first indices of as many correlations that ended in a state that few end in. */
const rarePlaces = (artifacts: number, behind: number): number[] =>
  waitingPlaces(artifacts).map((first) => first + behind * PER_CORRELATION);

type RareState = 'failed' | 'cancelled';

const RARE_STATES: RareState[] = ['failed', 'cancelled'];

const rareStateOf = (first: number, artifacts: number): RareState | undefined =>
  RARE_STATES.find((_, number) => rarePlaces(artifacts, number + 1).includes(first));

/** How many correlations lie between one that waits and the one whose agent is seldom. */
const SELDOM_BEHIND = 4;

/** The agent of the execution of ten correlations. */
export const SELDOM_AGENT = 'seldom';
/** The assignee of ten executions. */
export const ASSIGNEE = 'anna';
export const SELDOM_ERROR = 'SeldomError';

/** The id of the join group of a correlation that waits. */
export const groupOf = (first: number): string => `019b76da-a800-7000-8000-${first.toString(16).padStart(12, '0')}`;

/** An agent that no process has. */
const JOINING = { agent: 'joiner', subscription: 0 };
const FAR_AWAY = Date.UTC(2200, 0, 1);

/** Groups of failed executions. Their number does not depend on the history. */
const FAILURE_GROUPS = 100;

const groupAtPlace = (place: number): string => place.toString(16).padStart(32, '0');

/** One of them. */
export const FAILURE_GROUP = groupAtPlace(0);

/** Every second correlation that does not wait has a failed execution, and so do those that failed. */
const hasFailed = (first: number, artifacts: number): boolean =>
  !waitsAt(first, artifacts) && ((first / PER_CORRELATION) % 2 === 1 || rareStateOf(first, artifacts) === 'failed');

const waitsAt = (first: number, artifacts: number): boolean => waitingPlaces(artifacts).includes(first);

const agentAt = (first: number, artifacts: number): string =>
  rarePlaces(artifacts, SELDOM_BEHIND).includes(first) ? SELDOM_AGENT : JOINING.agent;

function failureAt(first: number, artifacts: number) {
  if (rareStateOf(first, artifacts) === 'failed') return SELDOM_FAILURE;
  const place = ((first / PER_CORRELATION - 1) / 2) % FAILURE_GROUPS;
  return {
    failure_group: groupAtPlace(place),
    error_type: 'Error',
    message: `there is no parcel at place ${place}`,
  };
}

export const SELDOM_FAILURE_GROUP = 'f'.repeat(32);
const SELDOM_FAILURE = {
  failure_group: SELDOM_FAILURE_GROUP,
  error_type: SELDOM_ERROR,
  message: 'this happens seldom',
};

const failureChangeAt = (first: number, artifacts: number) => ({
  ...failureAt(first, artifacts),
  change: 1,
  agent: agentAt(first, artifacts),
  failed_at: createdAt(first + 1),
});

/** Returns the execution of a correlation. It has ended, unless the correlation waits. */
function executionAt(first: number, artifacts: number) {
  const waits = waitsAt(first, artifacts);
  const failure = hasFailed(first, artifacts) ? failureAt(first, artifacts) : null;
  return {
    id: v7({ msecs: createdAt(first) }),
    agent: agentAt(first, artifacts),
    subscription: 0,
    correlation_id: correlationOf(first),
    generation: 1,
    state: waits ? 'pending' : failure ? 'failed' : 'completed',
    direct: 0,
    batch: 0,
    priority: 0,
    attempt: 1,
    lost_leases: 0,
    created_at: createdAt(first),
    started_at: waits ? null : createdAt(first),
    ended_at: waits ? null : createdAt(first + 1),
    error_type: failure?.error_type ?? null,
    error_message: failure?.message ?? null,
    failure_group: failure?.failure_group ?? null,
    assignee: rarePlaces(artifacts, SELDOM_BEHIND).includes(first) ? ASSIGNEE : null,
  };
}

/** As many executions of the last day in every history; the others are older than any window of the activity. */
const RECENT = 10_000;

/** The API has the activity of configured agents only. */
export const ACTIVE_AGENT = 'answerer';

/** The row of `activity` of an ended execution. */
function activityAt(first: number) {
  const endedAt = first < RECENT ? Date.now() - first * 8_000 : createdAt(first + 1);
  return {
    agent: ACTIVE_AGENT,
    hour: endedAt - (endedAt % 3_600_000),
    minute: endedAt - (endedAt % 60_000),
    executions: 1,
    failures: 0,
    artifacts_consumed: 1,
    artifacts_produced: 1,
    event: 'completed',
    bucket: first % 40,
    events: 1,
  };
}

const releaseAt = (first: number) => ({
  id: v7({ msecs: createdAt(first) }),
  kind: 'release',
  due_at: FAR_AWAY,
  subject: String(first + 1),
  correlation_id: correlationOf(first),
});

const groupAt = (first: number) => ({
  ...JOINING,
  id: groupOf(first),
  key: JSON.stringify(correlationOf(first)),
  ordinal: 1,
  state: 'waiting',
  size: 1,
  opened_at: createdAt(first),
});

const arrivalAt = (first: number) => ({
  ...JOINING,
  artifact_seq: first + 1,
  group_id: groupOf(first),
  key: JSON.stringify(correlationOf(first)),
  ordinal: 1,
  position: 0,
  type: typeOf(first),
  correlation_id: correlationOf(first),
  arrived_at: createdAt(first),
});

/** Returns the correlation that begins at an index. */
function correlationAt(first: number, artifacts: number) {
  const waits = waitsAt(first, artifacts);
  const members = Array.from({ length: PER_CORRELATION }, (_, place) => first + place);
  const ended = createdAt(members.at(-1)!);
  return {
    seq: numberOf(first),
    id: correlationOf(first),
    state: waits ? 'active' : (rareStateOf(first, artifacts) ?? 'completed'),
    closed: 0,
    generation: 1,
    pending: waits ? 2 : 0,
    artifact_count: PER_CORRELATION,
    error_count: 0,
    output_count: members.filter((index) => producerOf(index) !== 'external').length,
    generation_executions: 1,
    limited_agents: '[]',
    started_at: createdAt(first),
    last_activity_at: ended,
    settled_at: waits ? null : ended,
  };
}

const numberOf = (index: number): number => Math.floor(index / PER_CORRELATION) + 1;

type Table =
  | 'artifacts'
  | 'artifact_tags'
  | 'correlations'
  | 'executions'
  | 'activity'
  | 'failure_changes'
  | 'timers'
  | 'subscriptions'
  | 'join_groups'
  | 'join_arrivals';

/** Rows by their table; all of a table have the same columns. */
export type Rows = Record<Table, Record<string, string | number | null>[]>;

/** Returns a part of a history of this many artifacts: from one index up to another one, exclusive. */
export function partOf(artifacts: number, from: number, to: number): Rows {
  const indices = Array.from({ length: to - from }, (_, place) => from + place);
  const places = waitingPlaces(artifacts);
  const firsts = indices.filter((index) => index % PER_CORRELATION === 0);
  const waiting = firsts.filter((index) => places.includes(index));
  const identity = JSON.stringify({ join: ['Kind0', 'Kind1'], by: null });
  return {
    artifacts: indices.map((index) => artifactAt(index, artifacts)),
    artifact_tags: indices.map((index) => tagAt(index, artifacts)),
    correlations: firsts.map((index) => correlationAt(index, artifacts)),
    executions: firsts.map((index) => executionAt(index, artifacts)),
    activity: firsts.filter((index) => !places.includes(index)).map(activityAt),
    failure_changes: firsts
      .filter((index) => hasFailed(index, artifacts))
      .map((index) => failureChangeAt(index, artifacts)),
    timers: waiting.map(releaseAt),
    subscriptions: from === 0 ? [{ agent: JOINING.agent, number: JOINING.subscription, identity }] : [],
    join_groups: waiting.map(groupAt),
    join_arrivals: waiting.map(arrivalAt),
  };
}

import type { Schemas } from '../../api/requests';
import type { Span } from './time-scale';

export type TracedExecution = Schemas['TracedExecutionBody'];
export type TracedArtifact = Schemas['TracedArtifactBody'];
type Trace = Schemas['TraceBody'];

/** One row of the timeline: an artifact that a client published, or an execution. */
export type TimelineRow =
  | { kind: 'artifact'; id: string; at: number; artifact: TracedArtifact }
  | { kind: 'execution'; id: string; at: number; execution: TracedExecution };

const ms = (time: string): number => new Date(time).getTime();

/** Returns the rows in the order of their beginnings. An execution on several pages is there once. */
export function rowsOf(pages: readonly Trace[]): TimelineRow[] {
  const executions = new Map(pages.flatMap((page) => page.executions).map((execution) => [execution.id, execution]));
  const published = pages.flatMap((page) => page.artifacts).filter(({ execution_id }) => execution_id === null);
  const rows: TimelineRow[] = [
    ...published.map((artifact) => ({
      kind: 'artifact' as const,
      id: artifact.id,
      at: ms(artifact.created_at),
      artifact,
    })),
    ...[...executions.values()].map((execution) => ({
      kind: 'execution' as const,
      id: execution.id,
      at: ms(execution.created_at),
      execution,
    })),
  ];
  return rows.sort((one, other) => one.at - other.at);
}

/** `retrying` is what has failed at least once and waits for its next attempt. */
export const shownState = ({ state, attempts }: TracedExecution): string =>
  state === 'pending' && attempts.length > 0 ? 'retrying' : state;

export type BarKind = 'waiting' | 'running' | 'completed' | 'failed' | 'retrying' | 'cancelled';

export interface Bar extends Span {
  kind: BarKind;
}

/** Returns what an execution did when: it waited, each of its attempts, and the waits between them. */
export function barsOf(execution: TracedExecution, now: number): Bar[] {
  const { attempts, state, created_at, ended_at, next_attempt_at } = execution;
  const bars: Bar[] = [];
  let at = ms(created_at);
  attempts.forEach(({ started_at, ended_at: attemptEnd, error_type }, index) => {
    if (started_at === null) return;
    const from = ms(started_at);
    if (from > at) bars.push({ from: at, to: from, kind: index === 0 ? 'waiting' : 'retrying' });
    const isLast = index === attempts.length - 1;
    at = attemptEnd !== null ? ms(attemptEnd) : isLast && ended_at !== null ? ms(ended_at) : now;
    bars.push({ from, to: at, kind: kindOfAttempt(isLast, attemptEnd !== null, error_type, state) });
  });
  if (state === 'pending') {
    const kind = attempts.length === 0 ? 'waiting' : 'retrying';
    bars.push({ from: at, to: Math.max(now, next_attempt_at === null ? now : ms(next_attempt_at)), kind });
  }
  if (state === 'cancelled' && attempts.length === 0)
    bars.push({ from: at, to: ms(ended_at ?? created_at), kind: 'cancelled' });
  return bars;
}

function kindOfAttempt(
  isLast: boolean,
  hasEnded: boolean,
  error: string | null,
  state: TracedExecution['state'],
): BarKind {
  if (error !== null) return 'failed';
  if (!isLast) return hasEnded ? 'failed' : 'cancelled';
  if (state === 'completed' || state === 'failed' || state === 'cancelled') return state;
  return 'running';
}

export const spanOf = (row: TimelineRow, now: number): Span[] =>
  row.kind === 'artifact'
    ? [{ from: row.at, to: row.at }]
    : [{ from: row.at, to: row.at }, ...barsOf(row.execution, now)];

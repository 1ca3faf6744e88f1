import type {
  CorrelationWaitingBody,
  WaitingExecutionBody,
} from '../../../features/waiting/dto/correlation-waiting-body.js';
import type { OpenGroupBody } from '../../../features/waiting/dto/waiting-group-body.js';
import { idIn } from '../look-up.js';
import { type Page, pagesOf } from '../paging.js';
import type { Server } from '../server.js';

export type Wait = CorrelationWaitingBody['items'][number];

/** Yields what a correlation waits for. */
export const waitsOf = (server: Server, correlationId: string, limit: number): AsyncGenerator<Page<Wait>> =>
  pagesOf<Wait>(server, idIn('/api/v1/correlations/{id}/waiting', correlationId), new URLSearchParams(), limit);

const PENDING: Record<
  Exclude<WaitingExecutionBody['kind'], 'held' | 'retry' | 'unclaimed' | 'limit' | 'concurrency'>,
  string
> = {
  running: 'it runs',
  ready: 'a process will claim it',
  slots: 'each process with its agent runs as many executions as it may',
  paused: 'its agent is paused',
  no_process: 'no process has its agent',
  no_configuration: 'no process has the configuration of its replay, as it was when the replay began',
  budget: 'running model calls may use the rest of a budget',
};

/** Says in words what one of them waits for. */
export function reasonOf(wait: Wait): string {
  switch (wait.kind) {
    case 'deadline':
      return 'the correlation is cancelled at its deadline';
    case 'release':
      return `${wait.artifact_type} is hidden from agents until then`;
    case 'join':
      return wait.state === 'complete'
        ? 'the join is complete, and its where is being evaluated'
        : `it needs ${wait.waiting_for.join(' and ')}, and has ${received(wait)}, with the key ${wait.join_key}`;
    case 'window':
      return `the window${wait.join_key === null ? '' : ` of the key ${wait.join_key}`} has ${sizeOf(wait)}`;
    case 'held':
      return `${wait.claimed_by ?? 'a client'} has claimed it`;
    case 'retry':
      return `attempt ${wait.attempt} is delayed`;
    case 'concurrency':
      return wait.limit ?? 'as many executions of its agent run as may run';
    case 'limit':
      return wait.limit ?? 'the keys of its limits are being computed';
    case 'unclaimed':
      return `${wait.assignee ?? 'anyone'} can claim it${wait.due_at === null ? '' : `, due at ${wait.due_at}`}`;
    default:
      return PENDING[wait.kind];
  }
}

function sizeOf({ size, size_needed, without_process }: OpenGroupBody): string {
  if (size_needed !== null) return `${size} of ${size_needed} artifacts`;
  // A window of `debounce` needs no number.
  return without_process ? `${size} of an unknown number of artifacts` : 'the last artifact so far';
}

const received = (group: OpenGroupBody): string =>
  Object.entries(group.received)
    .map(([type, pieces]) => (pieces === 1 ? type : `${pieces} ${type}`))
    .join(' and ');

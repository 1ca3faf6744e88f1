import type { GapEntry, PublishedEntry } from '../../../features/changelog/entry.js';
import type { LiveEvent } from '../../../pubsub/live-event.js';
import { oneLine } from '../printing/safe-text.js';
import { count, pad } from '../printing/texts.js';

const WHAT_COLUMNS = 20;
const WHO_COLUMNS = 16;

/** One line for an entry of the changelog or a live event: the time, what happened, the agent, and the rest. */
export function textOf(event: PublishedEntry | GapEntry | LiveEvent): string {
  if (event.event_type === 'gap') return `artifacts after position ${event.seq} and up to ${event.to_seq} are missing`;
  const [what, who, ...rest] = partsOf(event);
  const time = event.timestamp.slice('yyyy-mm-ddT'.length);
  return [time, pad(oneLine(what), WHAT_COLUMNS), pad(oneLine(who), WHO_COLUMNS), ...rest.map(oneLine)].join('  ');
}

function partsOf(event: PublishedEntry | LiveEvent): [what: string, who: string, ...rest: string[]] {
  const what = event.event_type.replaceAll('_', ' ');
  switch (event.event_type) {
    case 'artifact_published':
      return [event.artifact_type, event.produced_by, event.correlation_id, event.artifact_id];
    case 'artifact_consumed':
      return [what, event.consumer, event.correlation_id, event.artifact_id];
    case 'execution_escalated':
      return [what, event.agent, event.correlation_id, `to ${event.assignee}`];
    case 'execution_output':
      return [what, event.agent, event.correlation_id, event.text];
    case 'run_progress':
      return [what, event.agent, event.correlation_id, event.status];
    case 'batch_progress':
      return [what, event.agent, event.batch_id, event.status, rowsOf(event.completed_items, event.total_items)];
    case 'correlation_settled':
      return [what, '', event.correlation_id, event.state];
    default:
      return [what, event.agent, event.correlation_id, attemptOf(event.attempt, event.error_type, event.retry_at)];
  }
}

const rowsOf = (done: number, total: number): string => `${count(done)}/${count(total)} rows`;

const attemptOf = (attempt: number, error: string | undefined, retryAt: string | undefined): string =>
  [`attempt ${attempt}`, ...(error === undefined ? [] : [error]), ...(retryAt ? [`again at ${retryAt}`] : [])].join(
    ', ',
  );

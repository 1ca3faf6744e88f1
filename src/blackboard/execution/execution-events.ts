import { toTimestamp } from '../../common/timestamp.js';
import type { LiveEvent } from '../../pubsub/live-event.js';
import type { ClaimedExecution } from './claimed-execution.js';

type ExecutionEvent = Extract<
  LiveEvent,
  { event_type: `execution_${'started' | 'retrying' | 'failed' | 'succeeded'}` }
>;

type Reported = Pick<ClaimedExecution, 'id' | 'agent' | 'attempt' | 'correlationId' | 'replay'>;

/** `now`: epoch ms. */
export const executionEvent = (
  event_type: ExecutionEvent['event_type'],
  { id, agent, attempt, correlationId, replay }: Reported,
  now: number,
  more: Pick<ExecutionEvent, 'error_type' | 'retry_at'> = {},
): ExecutionEvent => ({
  event_type,
  execution_id: id,
  agent,
  attempt,
  correlation_id: correlationId,
  ...(replay && { replay }),
  ...more,
  timestamp: toTimestamp(now),
});

/**
 * Characters. A live event must fit into one message between processes; a piece of a model's answer is usually short.
 */
const LONGEST_TEXT = 500;

export function outputEvents(
  { id, agent, attempt, correlationId, replay }: Reported,
  now: number,
  text: string,
  answer: number,
): LiveEvent[] {
  const fields = {
    execution_id: id,
    agent,
    attempt,
    correlation_id: correlationId,
    ...(replay && { replay }),
    answer,
    timestamp: toTimestamp(now),
  };
  const characters = [...text];
  const pieces = Array.from({ length: Math.ceil(characters.length / LONGEST_TEXT) }, (_, index) =>
    characters.slice(index * LONGEST_TEXT, (index + 1) * LONGEST_TEXT),
  );
  return pieces.map((piece) => ({ event_type: 'execution_output', ...fields, text: piece.join('') }));
}

import type { Entry, LiveEvent, OtherEvent } from '../../live/messages';

/** The values of the view's filters. An empty one does not filter. */
export interface FeedFilter {
  type: string[];
  /** Producers of artifacts, and agents of executions. */
  agent: string[];
  correlation_id: string;
  kind: string[];
  /** A position: the list has what was published before it, and nothing live. */
  before: string;
}

interface OfRow {
  key: string;
  /** The position of the entry, or of the last entry before a live event or a note. */
  seq: number;
}

export type Row =
  | (OfRow & { entry: Entry })
  | (OfRow & { event: OtherEvent })
  /** Says what may be missing at this place of the list. */
  | (OfRow & { note: string; about: string });

/** The position before which the rows below this one begin. A live event comes after the entry with its position. */
export const cursorOf = (row: Row): number => ('entry' in row ? row.seq : row.seq + 1);

/** Whether stored entries can match, and not only live events. */
export const wantsEntries = ({ kind }: FeedFilter): boolean => kind.length === 0 || kind.includes('artifact_published');

export function matches(event: LiveEvent, { type, agent, correlation_id, kind }: FeedFilter): boolean {
  // The text of language models has so many parts that nothing else would be seen.
  const isWanted = kind.length === 0 ? event.event_type !== 'execution_output' : kind.includes(event.event_type);
  if (!isWanted || (correlation_id !== '' && event.correlation_id !== correlation_id)) return false;
  if (event.event_type === 'artifact_published')
    return (
      (type.length === 0 || type.includes(event.artifact_type)) &&
      (agent.length === 0 || agent.includes(event.produced_by))
    );
  return type.length === 0 && (agent.length === 0 || agent.includes(event.agent ?? event.consumer ?? ''));
}

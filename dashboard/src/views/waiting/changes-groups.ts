import type { LiveEvent } from '../../live/messages';

/** An artifact arrives in a group, or reports that a group has expired; an execution takes the artifacts of a group. */
export const changesGroups = ({ event_type }: LiveEvent): boolean =>
  event_type === 'artifact_published' || event_type === 'execution_started' || event_type === 'correlation_settled';

import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';

/** What a reader asks a stream for. */
export interface StreamRequest {
  filter: ChangelogFilter;
  /** The position to begin behind; null begins with what is published from now on. */
  after: number | null;
  live: boolean;
}

export const everythingBehind = (position: number): StreamRequest => ({ filter: { correlationIds: [], types: [], producers: [] }, after: position, live: false });

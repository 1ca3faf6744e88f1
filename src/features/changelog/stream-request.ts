import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';

/** The options of a stream. */
export interface StreamRequest {
  filter: ChangelogFilter;
  /** The position after which the stream begins; null begins now. */
  after: number | null;
  live: boolean;
}

export const everythingBehind = (position: number): StreamRequest => ({
  filter: { correlationIds: [], types: [], producers: [] },
  after: position,
  live: false,
});

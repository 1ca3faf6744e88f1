/** The conditions of a query for artifacts. All must hold. An empty list or null sets no condition. */
export interface ArtifactFilter {
  /** Matches any of these. */
  types: readonly string[];
  /** Matches any of these. */
  producers: readonly string[];
  /** Matches any of these. */
  visibilityKinds: readonly string[];
  correlationId: string | null;
  /** Matches only artifacts with all of these. */
  tags: readonly string[];
  /** Epoch ms, inclusive. */
  from: number | null;
  /** Epoch ms, inclusive. */
  to: number | null;
  /** Whether to include artifacts of replays. */
  replays: boolean;
}

export const NO_FILTER: ArtifactFilter = {
  types: [],
  producers: [],
  visibilityKinds: [],
  correlationId: null,
  tags: [],
  from: null,
  to: null,
  replays: true,
};

/**
 * True if the filter has conditions only on types, producers and visibility kinds, which `artifact_counts` can answer.
 */
export const asksForKindOnly = (filter: ArtifactFilter): boolean =>
  filter.correlationId === null && filter.tags.length === 0 && filter.from === null && filter.to === null;

export const asksForNothing = (filter: ArtifactFilter): boolean =>
  asksForKindOnly(filter) &&
  filter.replays &&
  filter.types.length === 0 &&
  filter.producers.length === 0 &&
  filter.visibilityKinds.length === 0;

/** Artifacts of one type, producer and visibility kind. Times are epoch ms. */
export interface KindCount {
  type: string;
  produced_by: string;
  visibility_kind: string;
  /** JSON list. Set only if the summary includes tags. */
  tags?: string;
  count: number;
  earliest_created_at: number;
  latest_created_at: number;
}

export interface ArtifactSummary {
  total: number;
  byType: Record<string, number>;
  byProducer: Record<string, number>;
  byVisibility: Record<string, number>;
  /** The most frequent tags first. Undefined if the summary does not include tags. */
  byTag?: Record<string, number>;
  /** Epoch ms. Null if nothing matches. */
  earliestCreatedAt: number | null;
  latestCreatedAt: number | null;
}

const MOST_FREQUENT_TAGS = 100;

/** Memory for a counted tag in addition to its characters: its entry in the map. */
const BYTES_OF_A_TAG = 100;

/** Adds up the counts of a summary, which come in parts. */
export class SummaryCounts {
  private total = 0;
  private readonly types = new Map<string, number>();
  private readonly producers = new Map<string, number>();
  private readonly visibilityKinds = new Map<string, number>();
  private readonly tags = new Map<string, number>();
  private tagBytes = 0;
  private earliest = Infinity;
  private latest = -Infinity;

  /** Estimated memory of the counted tags. Clients choose tags freely, and each distinct tag needs an entry. */
  get bytes(): number {
    return this.tagBytes;
  }

  addKinds(kinds: readonly KindCount[]): void {
    for (const kind of kinds) {
      this.total += kind.count;
      add(this.types, kind.type, kind.count);
      add(this.producers, kind.produced_by, kind.count);
      add(this.visibilityKinds, kind.visibility_kind, kind.count);
      if (kind.tags !== undefined) this.addTags(kind.tags, kind.count);
      this.earliest = Math.min(this.earliest, kind.earliest_created_at);
      this.latest = Math.max(this.latest, kind.latest_created_at);
    }
  }

  summary(withTags: boolean): ArtifactSummary {
    return {
      total: this.total,
      byType: byFrequency(this.types),
      byProducer: byFrequency(this.producers),
      byVisibility: byFrequency(this.visibilityKinds),
      byTag: withTags ? byFrequency(this.tags, MOST_FREQUENT_TAGS) : undefined,
      earliestCreatedAt: this.total > 0 ? this.earliest : null,
      latestCreatedAt: this.total > 0 ? this.latest : null,
    };
  }

  private addTags(list: string, count: number): void {
    for (const tag of new Set(JSON.parse(list) as string[])) {
      if (!this.tags.has(tag)) this.tagBytes += 2 * tag.length + BYTES_OF_A_TAG;
      add(this.tags, tag, count);
    }
  }
}

const add = (counts: Map<string, number>, name: string, count: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + count);
};

/** Sorted by frequency, then by name. */
function byFrequency(counts: Map<string, number>, limit = Infinity): Record<string, number> {
  let first: [string, number][] = [];
  let last: [string, number] | undefined;
  for (const entry of counts) {
    if (last && moreFrequent(last, entry) < 0) continue;
    first.push(entry);
    // Sorting a million distinct tags in one call would block the process for a second.
    if (first.length < MOST_SORTED + limit) continue;
    first = first.sort(moreFrequent).slice(0, limit);
    last = first.at(-1);
  }
  return Object.fromEntries(first.sort(moreFrequent).slice(0, limit));
}

const MOST_SORTED = 10_000;

const moreFrequent = ([a, countOfA]: [string, number], [b, countOfB]: [string, number]): number =>
  countOfB - countOfA || (a < b ? -1 : 1);

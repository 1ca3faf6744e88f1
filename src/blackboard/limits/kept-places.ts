/** Others may have to wait so long for a place that is kept in vain. */
const KEPT_MS = 500;
/** After a place was kept in vain, none is kept for so long: at most a tenth of it is idle. */
export const REST_MS = 10 * KEPT_MS;

/** A place of the concurrency of a limit that is kept free for one execution. */
export interface KeptPlace {
  /** `keyText` */
  limit_key: string;
  /** The execution. */
  kept_for: string;
  /** Others may take it from then on (epoch ms). */
  kept_until: number;
}

/** The places that are kept free, at most one for each key. */
export class KeptPlaces {
  /** The places that `keep` has added. */
  readonly added = new Map<string, KeptPlace>();
  private readonly places: Map<string, KeptPlace>;

  constructor(
    stored: readonly KeptPlace[],
    private readonly now: number,
  ) {
    // If the clock was set back, one may end much later than it can be kept.
    const known = stored.filter(({ kept_until }) => kept_until <= now + KEPT_MS && kept_until + REST_MS > now);
    this.places = new Map(known.map((place) => [place.limit_key, place]));
  }

  /** Returns until when a place of the key is kept from this execution (epoch ms). Null if none is. */
  keptFrom(text: string, id: string | null): number | null {
    const place = this.places.get(text);
    return place && place.kept_until > this.now && place.kept_for !== id ? place.kept_until : null;
  }

  /** Returns those of the keys of which a place is kept for this execution, or was. */
  keptFor(texts: readonly string[], id: string): string[] {
    return texts.filter((text) => this.places.get(text)?.kept_for === id);
  }

  /** Keeps a place, unless one is kept, or was kept in vain just before. */
  keep(text: string, id: string): void {
    if (this.places.has(text)) return;
    const place = { limit_key: text, kept_for: id, kept_until: this.now + KEPT_MS };
    this.places.set(text, place);
    this.added.set(text, place);
  }
}

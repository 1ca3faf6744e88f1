import { scheduler } from '../../src/common/scheduler.js';
import { ChangelogEventsService } from '../../src/features/changelog/changelog-events.service.js';
import type { Rows } from '../support/database.js';
import type { Random } from '../support/random.js';
import type { SimulatedService } from './simulated-service.js';

const READERS = 2;
const LATENCY_MS = 5;
const PAUSE_MS = 500;
/** After an empty page. Frequent looks would make most turns of a quiet service. */
const LONG_PAUSE_MS = 20_000;
const LONGEST_PAGE = 40;

/** Readers who follow the changelog page by page, and continue from their positions after a crash. */
export class Readers {
  private readonly seen: Map<number, string>[] = Array.from({ length: READERS }, () => new Map());
  private readonly positions: number[] = Array.from({ length: READERS }, () => 0);

  constructor(
    private readonly random: Random,
    private readonly service: () => SimulatedService,
    private readonly onUnexpected: (error: unknown) => void,
  ) {}

  begin(): void {
    for (let reader = 0; reader < READERS; reader += 1) this.look(reader);
  }

  /** Returns the artifacts that a reader should have seen and has not, or has seen and should not. */
  async breaches(rows: Rows): Promise<string[]> {
    const artifacts = await rows<{ seq: number; id: string }>(
      'select seq, id from artifacts where replay = 0 order by seq',
    );
    const stored = new Map(artifacts.map(({ seq, id }) => [seq, id]));
    return this.seen.flatMap((seen, reader) => [
      ...artifacts
        .filter(({ seq, id }) => seq <= this.positions[reader]! && seen.get(seq) !== id)
        .map(({ seq }) => `reader ${reader} has passed artifact ${seq} and has not seen it`),
      ...[...seen]
        .filter(([seq, id]) => stored.get(seq) !== id)
        .map(([seq]) => `reader ${reader} has seen artifact ${seq}, which does not exist`),
    ]);
  }

  private look(reader: number, pause = PAUSE_MS): void {
    this.within(pause, () => {
      const limit = this.random.between(1, LONGEST_PAGE);
      this.service()
        .get(ChangelogEventsService)
        .list({ after: this.positions[reader]!, order: 'asc', limit, replay: false })
        .then(
          ({ text }) => this.within(LATENCY_MS, () => this.look(reader, this.read(reader, text))),
          (error: unknown) => {
            this.onUnexpected(error);
            this.look(reader);
          },
        );
    });
  }

  /** Returns the longest pause before the next page. */
  private read(reader: number, text: string): number {
    const { items, pagination } = JSON.parse(text) as {
      items: { seq: number; artifact_id?: string }[];
      pagination: { next: number };
    };
    for (const { seq, artifact_id: id } of items) {
      // The entry for a gap, which retention leaves, has no artifact.
      if (id !== undefined) this.seen[reader]!.set(seq, id);
    }
    this.positions[reader] = pagination.next;
    return items.length > 0 ? PAUSE_MS : LONG_PAUSE_MS;
  }

  private within(ms: number, callback: () => void): void {
    scheduler.after(this.random.next() * ms, callback);
  }
}

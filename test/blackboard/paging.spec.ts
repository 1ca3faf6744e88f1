import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

import type { Published } from '../../src/blackboard/publishing/publication.js';
import { ChangelogStore } from '../../src/blackboard/queries/changelog-store.js';
import { Catalog } from '../../src/catalog/catalog.js';
import type { JsonObject } from '../../src/common/json.js';
import { printedSeed, Random } from '../support/random.js';
import { anyObject, type Core, startCore } from './core.js';

const ARTIFACTS = Number(process.env.STARLING_PAGED_ARTIFACTS ?? 10_000);
const WRITERS = 32;
const READERS = 4;
const MOST_TAGS = 20;
const LONGEST_PAGE = 500;

interface Read {
  seq: number;
  id: string;
}

// Uses publishes of the core, on its own connections, and the query that changelog readers use.
describe(`readers who page by position beside ${WRITERS} writers of ${ARTIFACTS} artifacts`, () => {
  const random = new Random(printedSeed());
  let core: Core;
  let store: ChangelogStore;

  beforeAll(async () => {
    core = await startCore(new Catalog([anyObject('Note')], []), {});
    store = new ChangelogStore(core.unitOfWork);
  });

  afterAll(() => core.close());

  function publish(payload: JsonObject): Promise<Published> {
    const artifactId = randomUUID();
    // Tags need separate statements, so transactions have different lengths and overtake each other.
    const tags = Array.from({ length: random.between(0, MOST_TAGS) }, (_, tag) => `tag-${tag}`);
    return core.publisher.publish({
      artifactId,
      correlationId: artifactId,
      type: 'Note',
      payload,
      tags,
      partitionKey: null,
      visibility: { kind: 'Public' },
    });
  }

  /** The ids in the order of their positions. */
  async function write(): Promise<Read[]> {
    const published: Read[] = [];
    let begun = 0;
    const writer = async (): Promise<void> => {
      while (begun < ARTIFACTS) {
        const { seq, artifactId } = await publish({ number: (begun += 1) });
        published.push({ seq, id: artifactId });
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
    return published.sort((one, other) => one.seq - other.seq);
  }

  /** Reads pages until it has seen the last position, which is known once the writers have finished. */
  async function read(end: { last?: number }): Promise<Read[]> {
    const found: Read[] = [];
    while (found.length === 0 || found.at(-1)!.seq !== end.last) {
      const page = await store.after(found.at(-1)?.seq ?? 0, random.between(1, LONGEST_PAGE));
      found.push(...page.rows.map(({ seq, id }) => ({ seq, id })));
      // SQLite answers synchronously, so awaiting it alone lets no writer run.
      await setImmediate();
    }
    return found;
  }

  it('skip nothing and see nothing twice, in order', async () => {
    const end: { last?: number } = {};
    const reading = Array.from({ length: READERS }, () => read(end));
    const published = await write();
    end.last = published.at(-1)!.seq;
    expect(published).toHaveLength(ARTIFACTS);
    for (const found of await Promise.all(reading)) {
      // Checked first, because a difference of thousands of lines says little.
      const seen = new Set(found.map(({ id }) => id));
      expect(published.filter(({ id }) => !seen.has(id)).slice(0, 5)).toEqual([]);
      expect(found).toEqual(published);
    }
  }, 600_000);
});

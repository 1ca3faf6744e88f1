import { sql } from 'kysely';

import { ChangelogStore } from '../../src/blackboard/queries/changelog-store.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { newId } from '../../src/common/ids.js';
import { eventually } from '../support/eventually.js';
import { anyObject, type Core, startCore } from './core.js';

// Positions are assigned before the commit, so the later of two can become visible first.
describe('a reader who pages by position, beside a transaction that is still open', () => {
  let core: Core;
  let store: ChangelogStore;

  beforeEach(async () => {
    core = await startCore(new Catalog([anyObject('Note')], []), {});
    store = new ChangelogStore(core.unitOfWork);
  });

  afterEach(() => core.close());

  const publish = () =>
    core.publisher.publish({
      artifactId: newId(),
      correlationId: newId(),
      type: 'Note',
      payload: {},
      tags: [],
      partitionKey: null,
      visibility: { kind: 'Public' },
    });
  const positionsAfter = async (seq: number) => (await store.after(seq, 100)).rows.map((artifact) => artifact.seq);
  const committed = async () =>
    (await core.unitOfWork.reader.selectFrom('artifacts').select('seq').orderBy('seq').execute()).map(({ seq }) => seq);

  it.each([
    ['commits', true],
    ['is rolled back', false],
  ])('waits until it %s', async (_, commits) => {
    const before = await publish();
    await eventually('the first is final', async () => (await positionsAfter(0)).length > 0);
    let end = (): void => undefined;
    let taken = 0;
    const open = core.unitOfWork
      .run(async (tx) => {
        const held = new Promise<void>((resolve) => (end = resolve));
        const { rows } = await sql<{
          seq: number;
        }>`insert into artifacts (id, type, version, payload, produced_by, visibility, visibility_kind, tags, correlation_id, created_at)
        values (${newId()}, 'Note', 1, '{}', 'external', '{"kind":"Public"}', 'Public', '[]', ${newId()}, 0) returning seq`.execute(
          tx.db,
        );
        taken = rows[0]!.seq;
        await held;
        if (!commits) throw new Error('undone');
      })
      .catch(() => undefined);
    await eventually('the open transaction has its position', () => taken > 0);

    const later = await publish();
    expect(later.seq).toBeGreaterThan(taken);
    expect(await committed()).toEqual([before.seq, later.seq]);
    expect(await positionsAfter(0)).toEqual([before.seq]);
    expect(await positionsAfter(before.seq)).toEqual([]);

    end();
    await open;
    const rest = commits ? [taken, later.seq] : [later.seq];
    await eventually('the reader sees the rest', async () => (await positionsAfter(before.seq)).length >= rest.length);
    expect(await positionsAfter(before.seq)).toEqual(rest);
  });
});

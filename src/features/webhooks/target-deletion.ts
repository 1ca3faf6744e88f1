import { Injectable, type OnModuleInit } from '@nestjs/common';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { Settings } from '../../config/settings.js';
import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

/**
 * Deletes targets of clients with their secrets when they are older than `retain_deliveries` and no delivery or
 * correlation refers to them. A publish that uses one at the same time keeps it by a lock (`keeping`), or waits and
 * stores it again.
 */
@Injectable()
export class TargetDeletion implements Deletion, OnModuleInit {
  readonly name = 'webhook targets';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainDeliveriesMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    let after = '';
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const some = await findSome(reader, { after, cutoff });
      const last = some.at(-1);
      if (!last) break;
      after = last.id;
      const unused = await findUnused(
        reader,
        {},
        some.map(({ id }) => id),
      );
      if (unused.length > 0)
        deleted += await cleanup.step((tx) =>
          remove(
            tx,
            unused.map(({ id }) => id),
          ),
        );
    }
    return deleted;
  }
}

async function remove(tx: Transaction, found: readonly string[]): Promise<number> {
  const held = await hold(tx.db, {}, found);
  // Read again under the lock: earlier references are visible now, and no new one can come.
  const unused = await findUnused(
    tx.db,
    {},
    held.map(({ id }) => id),
  );
  await deleteAll(
    tx.db,
    {},
    unused.map(({ id }) => id),
  );
  return unused.length;
}

const findSome = prepared<{ after: string; cutoff: number }, { id: string }>((db, place) =>
  db
    .selectFrom('webhook_targets')
    .select('id')
    .where('id', '>', place('after'))
    .where('by', '=', 'client')
    .where('created_at', '<=', place('cutoff'))
    .orderBy('id')
    .limit(AT_ONCE),
);

const findUnused = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  db
    .selectFrom('webhook_targets')
    .select('id')
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('deliveries').select('seq').whereRef('deliveries.target_id', '=', 'webhook_targets.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('correlation_targets')
            .select('correlation_id')
            .whereRef('correlation_targets.target_id', '=', 'webhook_targets.id'),
        ),
      ),
    ),
);

/** Skips targets that a publish has locked; a later cleanup deletes them. */
const hold = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  locking(db, db.selectFrom('webhook_targets').select('id').where('id', 'in', ids), { wait: false }),
);

const deleteAll = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('webhook_targets').where('id', 'in', ids),
);

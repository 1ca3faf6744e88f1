import { preparedWithList } from '../../database/prepared.js';
import type { LimitValuesTable } from '../../database/schema/execution-tables.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** Finds those of the names that a client has set values for. */
export const findLimitValues = preparedWithList<object, string, LimitValuesTable>((db, _place, names) =>
  db.selectFrom('limit_values').selectAll().where('name', 'in', names),
);

export async function saveLimitValues({ db }: Transaction, { name, ...set }: LimitValuesTable): Promise<void> {
  await db
    .insertInto('limit_values')
    .values({ name, ...set })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(set))
    .execute();
}

export async function deleteLimitValues({ db }: Transaction, name: string): Promise<void> {
  await db.deleteFrom('limit_values').where('name', '=', name).execute();
}

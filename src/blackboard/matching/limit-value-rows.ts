import { preparedWithList } from '../../database/prepared.js';
import type { LimitValuesTable } from '../../database/schema/execution-tables.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** Finds those of the names that a client has set values for. */
export const findLimitValues = preparedWithList<object, string, LimitValuesTable>((db, _place, names) =>
  db.selectFrom('limit_values').selectAll().where('name', 'in', names),
);

/** Finds the values of all limits, also of those that the configuration no longer has, in the order of their names. */
export const findAllLimitValues = (db: Reader): Promise<LimitValuesTable[]> =>
  db.selectFrom('limit_values').selectAll().orderBy('name').execute();

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

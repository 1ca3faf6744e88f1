import { Injectable } from '@nestjs/common';
import type { Insertable } from 'kysely';
import type { ActivityHoursTable } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

type Hour = Insertable<ActivityHoursTable>;

const STEP = 1_000;

/** Moves the rows of ended executions into `activity_hours`, one row for each agent and hour. */
@Injectable()
export class ActivityFold {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Folds the next few; false where that was all. */
  step(): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(['fold activity']);
      const rows = await takeRows(tx);
      if (rows.length > 0) await addToHours(tx, sumByHour(rows));
      return rows.length === STEP;
    });
  }
}

/** What is counted is what this transaction deleted itself, so that no row counts twice and none is lost. */
const takeRows = (tx: Transaction): Promise<Hour[]> =>
  tx.db
    .deleteFrom('activity')
    .where('seq', 'in', (eb) => eb.selectFrom('activity').select('seq').orderBy('seq').limit(STEP))
    .returning(['agent', 'hour', 'executions', 'failures', 'artifacts_consumed', 'artifacts_produced'])
    .execute();

function sumByHour(rows: readonly Hour[]): Hour[] {
  const sums = new Map<string, Hour>();
  for (const row of rows) {
    const name = `${row.hour} ${row.agent}`;
    const sum = sums.get(name);
    if (!sum) sums.set(name, { ...row });
    else {
      sum.executions += row.executions;
      sum.failures += row.failures;
      sum.artifacts_consumed += row.artifacts_consumed;
      sum.artifacts_produced += row.artifacts_produced;
    }
  }
  return [...sums.values()];
}

async function addToHours(tx: Transaction, hours: Hour[]): Promise<void> {
  await tx.db
    .insertInto('activity_hours')
    .values(hours)
    .onConflict((conflict) =>
      conflict.columns(['agent', 'hour']).doUpdateSet((eb) => ({
        executions: eb('activity_hours.executions', '+', eb.ref('excluded.executions')),
        failures: eb('activity_hours.failures', '+', eb.ref('excluded.failures')),
        artifacts_consumed: eb('activity_hours.artifacts_consumed', '+', eb.ref('excluded.artifacts_consumed')),
        artifacts_produced: eb('activity_hours.artifacts_produced', '+', eb.ref('excluded.artifacts_produced')),
      })),
    )
    .execute();
}

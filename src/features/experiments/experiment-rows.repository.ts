import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import { amongFound } from '../../database/dialects/dialect.js';
import { preparedInsert } from '../../database/prepared.js';
import type { ExperimentRowsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

export type DataRow = Selectable<ExperimentRowsTable>;

/** A row of a data set before it is stored. */
export type NewRow = Pick<DataRow, 'origin' | 'origin_kind' | 'inputs' | 'expected' | 'problem'>;

const SHOWN = ['position', 'origin', 'input_shown', 'expected_shown'] as const;

/** A row without the texts that may be large. */
export type ShownRow = Pick<DataRow, (typeof SHOWN)[number]>;

/** The rows of the data sets of experiments. */
@Injectable()
export class ExperimentRowsRepository {
  async insert({ db }: Transaction, seq: number, from: number, rows: readonly NewRow[]): Promise<void> {
    await insertRows(
      db,
      rows.map((row, index) => ({ experiment_seq: seq, position: from + index, ...row })),
    );
  }

  /** Returns the rows at these positions, by position. */
  async at(db: Reader, seq: number, positions: readonly number[]): Promise<Map<number, DataRow>> {
    if (positions.length === 0) return new Map();
    const rows = await db
      .selectFrom('experiment_rows')
      .selectAll()
      .where('experiment_seq', '=', seq)
      .where('position', 'in', [...new Set(positions)])
      .execute();
    return new Map(rows.map((row) => [row.position, row]));
  }

  /** Like `at`, with what lists show. */
  async shown(db: Reader, seq: number, positions: readonly number[]): Promise<Map<number, ShownRow>> {
    if (positions.length === 0) return new Map();
    const rows = await db
      .selectFrom('experiment_rows')
      .select(SHOWN)
      .where('experiment_seq', '=', seq)
      .where('position', 'in', positions)
      .execute();
    return new Map(rows.map((row) => [row.position, row]));
  }

  /** Keeps what lists show of a row. */
  async show(
    { db }: Transaction,
    {
      seq,
      position,
      input,
      expected,
    }: { seq: number; position: number; input: string | null; expected: string | null },
  ): Promise<void> {
    await db
      .updateTable('experiment_rows')
      .set({ input_shown: input, expected_shown: expected })
      .where('experiment_seq', '=', seq)
      .where('position', '=', position)
      .execute();
  }

  /** Deletes some rows. Returns their number, which is below AT_ONCE when none is left. */
  async deleteSome({ db }: Transaction, seq: number): Promise<number> {
    const part = db
      .selectFrom('experiment_rows')
      .select('position')
      .where('experiment_seq', '=', seq)
      .orderBy('position')
      .limit(AT_ONCE);
    const { numDeletedRows } = await db
      .deleteFrom('experiment_rows')
      .where('experiment_seq', '=', seq)
      .where(amongFound(db, 'position', part))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

const insertRows = preparedInsert('experiment_rows', [
  'experiment_seq',
  'position',
  'origin',
  'origin_kind',
  'inputs',
  'expected',
  'problem',
]);

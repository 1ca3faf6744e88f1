import { hash } from 'node:crypto';

import { prepared, preparedInsert, preparedWithList } from '../../../database/prepared.js';
import type { Transaction } from '../../../database/unit-of-work.js';

/** A row that is about to be stored. */
export interface KeyedRow {
  batch_seq: number;
  position: number;
  inputs: string;
  repeats: number | null;
  copies: number;
}

const LONGEST_KEY = 60;

/** Returns the stored form of a key. A long one becomes its SHA-256; the prefix distinguishes it from a short key. */
const stored = (value: string): string =>
  value.length <= LONGEST_KEY ? `=${value}` : `#${hash('sha256', value, 'base64url')}`;

/**
 * Makes rows repeat the first row of the batch with an equal value, in this part or an earlier one, and counts the
 * copies of that row. `values` has one value for each row. All rows must belong to one batch.
 */
export async function storeKeys(tx: Transaction, rows: readonly KeyedRow[], values: readonly string[]): Promise<void> {
  const batchSeq = rows[0]!.batch_seq;
  const start = rows[0]!.position;
  const keys = values.map(stored);
  const found = await findKeys(tx.db, { batchSeq }, [...new Set(keys)]);
  const firsts = new Map(found.map(({ key, position }) => [key, position]));
  const fresh: { batch_seq: number; key: string; position: number }[] = [];
  const copiesOfEarlier = new Map<number, number>();
  for (const [index, row] of rows.entries()) {
    const key = keys[index]!;
    const first = firsts.get(key);
    if (first === undefined) {
      firsts.set(key, row.position);
      fresh.push({ batch_seq: batchSeq, key, position: row.position });
      continue;
    }
    row.repeats = first;
    // The inputs of a copy are never read.
    row.inputs = '{}';
    if (first >= start) rows[first - start]!.copies += 1;
    else copiesOfEarlier.set(first, (copiesOfEarlier.get(first) ?? 0) + 1);
  }
  await insertKeys(tx.db, fresh);
  for (const [position, copies] of copiesOfEarlier) await addCopies(tx.db, { batchSeq, position, copies });
}

const findKeys = preparedWithList<{ batchSeq: number }, string, { key: string; position: number }>((db, place, keys) =>
  db
    .selectFrom('batch_keys')
    .select(['key', 'position'])
    .where('batch_seq', '=', place('batchSeq'))
    .where('key', 'in', keys),
);

const insertKeys = preparedInsert('batch_keys', ['batch_seq', 'key', 'position']);

const addCopies = prepared<{ batchSeq: number; position: number; copies: number }, unknown>((db, place) =>
  db
    .updateTable('batch_rows')
    .set(({ eb }) => ({ copies: eb('copies', '+', place('copies')) }))
    .where('batch_seq', '=', place('batchSeq'))
    .where('position', '=', place('position')),
);

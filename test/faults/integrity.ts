import type { Rows } from '../support/database.js';

/** Runs SQLite's check of its file; a Postgres server checks its own files. */
export async function integrity(rows: Rows): Promise<string[]> {
  if (TEST_DATABASE === 'postgres') return [];
  const [check] = await rows<{ integrity_check: string }>('pragma integrity_check');
  return check!.integrity_check === 'ok' ? [] : [`integrity_check: ${check!.integrity_check}`];
}

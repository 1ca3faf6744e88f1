export const SQLITE_BUSY = 5;
export const SQLITE_FULL = 13;

/** Reasons why SQLite cannot use a file, with the fix, by result code. */
export const SQLITE_REASONS: Record<number, string> = {
  [SQLITE_BUSY]: 'another program holds its lock; close it',
  6: 'another program holds its lock; close it',
  7: 'there is not enough memory',
  8: 'its file is read-only; change its permissions',
  10: 'its disk is failing',
  11: 'its file is damaged',
  14: 'its file cannot be opened; change its permissions',
  [SQLITE_FULL]: 'the disk is full; free some space',
};

/** SQLite's primary result code. Undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number } | null)?.errcode;
  return code === undefined ? undefined : code & 0xff;
}

export function sqliteReason(error: unknown): string | undefined {
  const code = sqliteCode(error);
  return code === undefined ? undefined : SQLITE_REASONS[code];
}

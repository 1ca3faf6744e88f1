import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { closeSync } from 'node:fs';
import { join } from 'node:path';

import type { Random } from '../support/random.js';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/** How far SQLite has written the WAL, as its index says (https://sqlite.org/walformat.html, section 2.1). */
export interface WalPosition {
  /** Bytes of the WAL that hold committed frames. */
  bytes: number;
  /** Changes when the WAL begins from its start again. */
  salt: string;
  /** Frames that a checkpoint has copied into the database. */
  backfilled: number;
}

export function walPosition(folder: string): WalPosition {
  const index = Buffer.alloc(100);
  const file = openSync(join(folder, 'starling.db-shm'), 'r');
  readSync(file, index, 0, index.length, 0);
  closeSync(file);
  const pageSize = index.readUInt16LE(14);
  const frames = index.readUInt32LE(16);
  return {
    bytes: frames === 0 ? 0 : WAL_HEADER + frames * (FRAME_HEADER + pageSize),
    salt: index.toString('hex', 32, 40),
    backfilled: index.readUInt32LE(96),
  };
}

export const isSame = (one: WalPosition, other: WalPosition): boolean =>
  one.bytes === other.bytes && one.salt === other.salt;

/**
 * Copies the files as a machine leaves them that lost its power while what lies between the two positions was being
 * written: the WAL ends at any byte between them, and other bytes may follow. Returns what was done to it.
 */
export function copyAsAfterPowerLoss(
  from: string,
  to: string,
  [synced, written]: [WalPosition, WalPosition],
  random: Random,
): string {
  mkdirSync(to);
  for (const name of ['starling.db', 'starling.db-wal', 'starling.db.key'])
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  const wal = join(to, 'starling.db-wal');
  // A checkpoint syncs the WAL before it writes the database, so nothing of the WAL is missing after one.
  const wasCheckpointed = written.backfilled !== synced.backfilled && written.salt === synced.salt;
  // A WAL that begins again is synced after its header.
  const begin = written.salt === synced.salt ? Math.max(synced.bytes, 0) : WAL_HEADER;
  const cut = wasCheckpointed ? written.bytes : random.between(Math.min(begin, written.bytes), written.bytes);
  if (random.next() < 0.5) truncateSync(wal, cut);
  else garble(wal, cut, random);
  return `${begin} ${cut} ${written.bytes}`;
}

/** Writes anything behind `cut`, as blocks of a disk hold that were allocated and not written. */
function garble(wal: string, cut: number, random: Random): void {
  const bytes = readFileSync(wal);
  const byte = random.between(0, 255);
  bytes.fill(byte, cut);
  writeFileSync(wal, bytes);
}

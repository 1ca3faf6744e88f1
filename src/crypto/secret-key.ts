import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Settings } from '../config/settings.js';
import { sqlitePath } from '../database/open-database.js';
import { keyFileOf } from '../database/sqlite-files.js';
import { StartError } from '../database/start-error.js';

const KEY_BYTES = 32;

/**
 * The key that encrypts stored secrets; null if there is none. Without the setting, SQLite has a key in a file next to
 * the database, which this function makes at the first start. Only the process that holds the database may call it.
 * Throws a StartError if the key cannot be read or made.
 */
export function findSecretKey({ secretKey, databaseUrl }: Pick<Settings, 'secretKey' | 'databaseUrl'>): Buffer | null {
  if (secretKey !== null) return Buffer.from(secretKey, 'hex');
  const path = sqlitePath(databaseUrl);
  return path === null ? null : keyFromFile(keyFileOf(resolve(path)));
}

function keyFromFile(file: string): Buffer {
  const text = read(file) ?? make(file);
  if (!/^[0-9A-Fa-f]{64}$/.test(text))
    throw new StartError(
      `secret_key: ${file} must hold 64 hexadecimal digits; restore the original file, or set STARLING_SECRET_KEY to the key`,
    );
  return Buffer.from(text, 'hex');
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartError(`secret_key: cannot read ${file}: ${(error as Error).message}`);
  }
}

// Writes under another name first, so that a crash cannot leave half a key under the final name.
function make(file: string): string {
  const text = randomBytes(KEY_BYTES).toString('hex');
  try {
    writeNew(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
    return text;
  } catch (error) {
    throw new StartError(
      `secret_key: cannot make ${file}: ${(error as Error).message}; set STARLING_SECRET_KEY to a key made with openssl rand -hex 32`,
    );
  }
}

/**
 * Removes an existing file of that name first and never writes into it: it is left over from a crash, or a link that
 * would hand the key to another user.
 */
function writeNew(file: string, text: string): void {
  rmSync(file, { force: true });
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from '../config/settings.js';
import { StartError } from '../database/start-error.js';
import { sqlitePath } from '../database/open-database.js';
import { keyFileOf } from '../database/sqlite-files.js';

const KEY_BYTES = 32;

/**
 * The key that secrets are stored under; null where there is none. Without the setting, SQLite has one in a file beside the
 * database, made here at the first start; to be called by whoever holds the database. StartError where it cannot be had.
 */
export function findSecretKey({ secretKey, databaseUrl }: Pick<Settings, 'secretKey' | 'databaseUrl'>): Buffer | null {
  if (secretKey !== null) return Buffer.from(secretKey, 'hex');
  const path = sqlitePath(databaseUrl);
  return path === null ? null : keyFromFile(keyFileOf(resolve(path)));
}

function keyFromFile(file: string): Buffer {
  const text = read(file) ?? make(file);
  if (!/^[0-9A-Fa-f]{64}$/.test(text)) throw new StartError(`secret_key: ${file} must hold 64 hexadecimal digits; put back the file that was there, or give the key as STARLING_SECRET_KEY`);
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

// Under another name first, so that a crash leaves no half of a key under its own.
function make(file: string): string {
  const text = randomBytes(KEY_BYTES).toString('hex');
  try {
    writeNew(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
    return text;
  } catch (error) {
    throw new StartError(`secret_key: cannot make ${file}: ${(error as Error).message}; give a key as STARLING_SECRET_KEY, made with openssl rand -hex 32`);
  }
}

/** What is there under that name goes: left over from a crash, or a link by which another user would get the key. It is never written to. */
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

import { chmodSync, closeSync, existsSync, lstatSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o600;

/** Permission bits of the group and of others. */
const OF_OTHERS = 0o077;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;

export const lockFileOf = (path: string): string => `${path}.lock`;

export const keyFileOf = (path: string): string => `${path}.key`;

/**
 * A SQLite database and all files next to it. SQLite's own files get the database's mode, and are next to the target of
 * a link.
 */
export function sqliteFilesOf(path: string): string[] {
  const real = existsSync(path) ? realpathSync(path) : path;
  return [
    path,
    lockFileOf(path),
    `${lockFileOf(path)}-journal`,
    keyFileOf(path),
    `${real}-wal`,
    `${real}-shm`,
    `${real}-journal`,
  ];
}

/**
 * Creates a missing file that only its user may read: SQLite creates files with the modes that the umask allows. It
 * never opens an existing file, because closing that would release the locks that this process has on it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Removes the permissions of other users from existing files, for example of an earlier version. It does not follow a
 * link of another user, which may lead to any file of this user. Returns one warning for each such link and for each
 * file that stays open to others.
 */
export function closeToOthers(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const owner = foreignLinkOwner(file);
    if (owner !== null) {
      return [
        `database_url: ${file} is a link that user ${owner} made, so its target's mode stays unchanged; remove it, or create it as Starling's user`,
      ];
    }
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found || (found.mode & OF_OTHERS) === 0) return [];
    try {
      chmodSync(file, PRIVATE);
      return [];
    } catch (error) {
      return [
        `database_url: other users may read or write ${file}, and its mode cannot be changed: ${(error as Error).message}; run chmod 600 on it as its owner`,
      ];
    }
  });
}

/**
 * Returns the link's owner if it is neither this user nor root, because operators create links on purpose. Otherwise
 * null.
 */
function foreignLinkOwner(file: string): number | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isSymbolicLink()) return null;
  return found.uid === 0 || found.uid === process.getuid?.() ? null : found.uid;
}

/**
 * Warns if other users may put files into the folder of the database. The folder's mode stays unchanged, because it may
 * hold other files too.
 */
export function folderWarnings(path: string): string[] {
  const folder = dirname(path);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || !isWritableByOthers(found)) return [];
  return [
    `database_url: other users may write to ${folder} and replace the database or its key; run chmod go-w on it, or choose another folder`,
  ];
}

/**
 * A sticky folder counts too, because its writers may create the files that are missing. A group of this process shares
 * the folder on purpose.
 */
function isWritableByOthers({ mode, gid }: Stats): boolean {
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return true;
  const own = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return (mode & WRITABLE_BY_GROUP) !== 0 && !own.includes(gid);
}

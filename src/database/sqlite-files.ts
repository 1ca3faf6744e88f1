import { chmodSync, closeSync, existsSync, lstatSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

const PRIVATE = 0o600;

/** For the group and for others: to read, write and run. */
const OF_OTHERS = 0o077;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_OTHERS = 0o002;

export const lockFileOf = (path: string): string => `${path}.lock`;

export const keyFileOf = (path: string): string => `${path}.key`;

/** A SQLite database and everything that is kept beside it. SQLite's own take over the mode of the database, and lie where a link leads. */
export function sqliteFilesOf(path: string): string[] {
  const real = existsSync(path) ? realpathSync(path) : path;
  return [path, lockFileOf(path), `${lockFileOf(path)}-journal`, keyFileOf(path), `${real}-wal`, `${real}-shm`, `${real}-journal`];
}

/**
 * Makes a missing file that its user alone may read, since SQLite makes files that whoever the umask lets may read. Never opens a file
 * that is there: closing it would give up the locks that this process holds on it.
 */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Takes the rights of other users from the files that are there, of an earlier version for instance. Does not follow a link that another
 * user has made: it may lead to any file of this user. One line for each such link, and for each file that stays open.
 */
export function closeToOthers(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const owner = foreignLinkOwner(file);
    if (owner !== null) {
      return [`database_url: ${file} is a link that the user with the id ${owner} has made, so that the mode of what it leads to is left as it is; remove the link, or make it as the user that Starling runs as`];
    }
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found || (found.mode & OF_OTHERS) === 0) return [];
    try {
      chmodSync(file, PRIVATE);
      return [];
    } catch (error) {
      return [`database_url: other users may read or write ${file}, and its mode cannot be changed: ${(error as Error).message}; run chmod 600 on it as its owner`];
    }
  });
}

/** Null unless the file is a link that belongs neither to this user nor to root: operators make links on purpose. */
function foreignLinkOwner(file: string): number | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isSymbolicLink()) return null;
  return found.uid === 0 || found.uid === process.getuid?.() ? null : found.uid;
}

/** One line where others may put files of their own into the folder that holds the database. It is left as it is: it may hold more than the database. */
export function folderWarnings(path: string): string[] {
  const folder = dirname(path);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found || !isWritableByOthers(found)) return [];
  return [`database_url: other users may write to ${folder}, and so replace the database or its key; run chmod go-w on it, or keep the database in a folder of its own`];
}

/** A sticky folder counts too: who may write there may make the files that are missing. A group that this process is in shares the folder on purpose. */
function isWritableByOthers({ mode, gid }: Stats): boolean {
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return true;
  const own = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  return (mode & WRITABLE_BY_GROUP) !== 0 && !own.includes(gid);
}

import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { DomainError } from '../../common/domain-error.js';
import { excerpt } from './excerpt.js';

// Without O_NONBLOCK, opening a FIFO would wait for its writer. A link in the last place was followed before.
const READ_ONLY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Opens a file that a caller named, relative to `root` and inside it, links followed. DomainError `invalid` for anything but
 * a regular file there. Looked at first, so that no device or FIFO is opened, and again once it is open, since the path may
 * lead elsewhere by then.
 */
export async function openCsvFile(root: string, path: string): Promise<FileHandle> {
  if (path.includes('\0')) throw invalid(`${excerpt(path)} is no path`);
  const realRoot = await realpath(root).catch(() => {
    throw invalid('the csv_root of the service is no folder; have it set, send a list or upload the file');
  });
  const asked = resolve(root, path);
  if (!isInside(resolve(root), asked) && !isInside(realRoot, asked)) throw leaves(path);
  try {
    const found = await realpath(asked);
    if (!isInside(realRoot, found)) throw leaves(path);
    refuseIrregular(path, await stat(found));
    return await openChecked(realRoot, path, found);
  } catch (error) {
    throw asInvalid(path, error);
  }
}

async function openChecked(realRoot: string, path: string, found: string): Promise<FileHandle> {
  const file = await open(found, READ_ONLY);
  try {
    refuseIrregular(path, await file.stat());
    if (!isInside(realRoot, await pathOf(file, found))) throw leaves(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Where an open file is: Linux tells; elsewhere the path is looked at once more. */
const pathOf = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);

const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

function refuseIrregular(path: string, file: { isFile(): boolean; isDirectory(): boolean }): void {
  if (file.isDirectory()) throw invalid(`${excerpt(path)} is a folder; name a CSV file`);
  if (!file.isFile()) throw invalid(`${excerpt(path)} is no regular file; name a CSV file`);
}

const PROBLEMS: Record<string, string> = {
  ENOENT: 'does not exist in the csv_root of the service',
  ENOTDIR: 'does not exist in the csv_root of the service',
  ENAMETOOLONG: 'is too long to be a path',
  ELOOP: 'is a link that leads nowhere',
  EACCES: 'may not be read by the service; mend its permissions',
  EPERM: 'may not be read by the service; mend its permissions',
  ENXIO: 'is no regular file; name a CSV file',
};

function asInvalid(path: string, error: unknown): unknown {
  const problem = PROBLEMS[(error as NodeJS.ErrnoException).code ?? ''];
  return error instanceof DomainError || problem === undefined ? error : invalid(`${excerpt(path)} ${problem}`);
}

const leaves = (path: string): DomainError => invalid(`${excerpt(path)} leads out of the csv_root of the service; name a file inside it`);
const invalid = (problem: string): DomainError => new DomainError('invalid', `batch_inputs: ${problem}`);

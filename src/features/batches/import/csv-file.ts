import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';

import { DomainError } from '../../../common/domain-error.js';
import type { Settings } from '../../../config/settings.js';
import { excerpt } from './input-names.js';
import { isInside, OwnFiles } from './own-files.js';

// Without O_NONBLOCK, opening a FIFO would wait for its writer. O_NOFOLLOW is safe, because links were resolved before.
const READ_ONLY = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

const CSV_NAME = /\.(csv|tsv|txt)$/i;

export type CsvPlace = Pick<Settings, 'csvRoot' | 'databaseUrl' | 'configurationFiles'>;

/**
 * Opens a file inside `csvRoot` by a client's relative path, and follows links. Throws DomainError `invalid` for
 * anything except a regular file with the name of a CSV, and for files of the service. The file is checked before it is
 * opened, so that no device or FIFO is opened, and again after it is opened, because the path may have changed
 * meanwhile.
 */
export async function openCsvFile(place: CsvPlace, path: string): Promise<FileHandle> {
  if (path.includes('\0')) throw invalid(`${excerpt(path)} is not a path`);
  if (place.csvRoot === null) throw invalid(NO_ROOT);
  const root = resolve(place.csvRoot);
  const realRoot = await realpath(root).catch(() => {
    throw invalid(
      'the csv_root of the service is not a folder; ask the operator to correct it, send a list, or upload the file',
    );
  });
  const asked = resolve(root, path);
  const base = [root, realRoot].find((folder) => isInside(folder, asked));
  if (base === undefined) throw leaves(path);
  checkName(path, relative(base, asked));
  try {
    const allowed = new AllowedFiles(path, realRoot, await OwnFiles.find(place));
    const found = await realpath(asked);
    allowed.check(found, await stat(found, { bigint: true }));
    return await openChecked(allowed, found);
  } catch (error) {
    throw asInvalid(path, error);
  }
}

/** Checks the file to which a path leads. */
class AllowedFiles {
  constructor(
    /** The path that the client gave. */
    private readonly path: string,
    private readonly realRoot: string,
    private readonly ownFiles: OwnFiles,
  ) {}

  /** Throws DomainError `invalid` for a file that is not allowed. `found` is its path without links. */
  check(found: string, file: BigIntStats): void {
    if (!isInside(this.realRoot, found)) throw leaves(this.path);
    if (file.isDirectory()) throw invalid(`${excerpt(this.path)} is a folder; name a CSV file`);
    if (!file.isFile()) throw invalid(`${excerpt(this.path)} is not a regular file; name a CSV file`);
    checkName(this.path, relative(this.realRoot, found));
    const reason = this.ownFiles.reasonAgainst(found, file, this.realRoot);
    if (reason !== null) throw invalid(`${excerpt(this.path)} ${reason}`);
  }
}

async function openChecked(allowed: AllowedFiles, found: string): Promise<FileHandle> {
  const file = await open(found, READ_ONLY);
  try {
    allowed.check(await pathOf(file, found), await file.stat({ bigint: true }));
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns the path of an open file. Only Linux knows it; on other systems the path is resolved again. */
const pathOf = (file: FileHandle, path: string): Promise<string> =>
  process.platform === 'linux' ? readlink(`/proc/self/fd/${file.fd}`) : realpath(path);

/** `inner` is the path below csv_root. */
function checkName(path: string, inner: string): void {
  if (inner.split(sep).some((name) => name.startsWith('.'))) {
    throw invalid(`${excerpt(path)} leads through a name with a leading dot; rename it, or upload the file`);
  }
  if (!CSV_NAME.test(inner)) throw invalid(`${excerpt(path)} does not end in .csv, .tsv or .txt; name a CSV file`);
}

const PROBLEMS: Record<string, string> = {
  ENOENT: 'does not exist in the csv_root of the service',
  ENOTDIR: 'does not exist in the csv_root of the service',
  ENAMETOOLONG: 'is too long to be a path',
  ELOOP: 'is a link that leads to no file',
  EACCES: 'cannot be read by the service; change its permissions',
  EPERM: 'cannot be read by the service; change its permissions',
  ENXIO: 'is not a regular file; name a CSV file',
};

function asInvalid(path: string, error: unknown): unknown {
  const problem = PROBLEMS[(error as NodeJS.ErrnoException).code ?? ''];
  return error instanceof DomainError || problem === undefined ? error : invalid(`${excerpt(path)} ${problem}`);
}

const NO_ROOT =
  'a path needs the setting csv_root, which is not set; ask the operator to set it, or upload the file as multipart/form-data';
const leaves = (path: string): DomainError =>
  invalid(`${excerpt(path)} leads out of the csv_root of the service; name a file inside it`);
const invalid = (problem: string): DomainError => new DomainError('invalid', `batch_inputs: ${problem}`);

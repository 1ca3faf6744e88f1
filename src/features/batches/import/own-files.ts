import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';

import type { Settings } from '../../../config/settings.js';
import { sqlitePath } from '../../../database/open-database.js';
import { sqliteFilesOf } from '../../../database/sqlite-files.js';

/** BigInt, because the inodes of some file systems would be rounded as numbers. */
type FileId = Pick<BigIntStats, 'dev' | 'ino'>;

/** The files of the service, which contain keys and the data of other clients. No request may read them. */
export class OwnFiles {
  private constructor(
    /** Paths without links. */
    private readonly databaseFolders: readonly string[],
    private readonly ids: ReadonlySet<string>,
  ) {}

  /**
   * Looks the files up for each request, because they may have moved. Requests rarely name a file, so the cost is
   * low.
   */
  static async find({
    databaseUrl,
    configurationFiles,
  }: Pick<Settings, 'databaseUrl' | 'configurationFiles'>): Promise<OwnFiles> {
    const path = sqlitePath(databaseUrl);
    const database = path === null ? null : resolve(path);
    const beside = database === null ? [] : sqliteFilesOf(database);
    const folders = database === null ? [] : [realpath(dirname(database)), realpath(database).then(dirname)];
    const ids = [...beside, ...configurationFiles].map((file) => stat(file, { bigint: true }).then(idOf));
    // Awaited together, because a rejection that nothing awaits would end the process.
    const [databaseFolders, own] = await Promise.all([found(folders), found(ids)]);
    return new OwnFiles(databaseFolders, new Set(own));
  }

  /**
   * Returns the reason for the message "<path> ...", or null if the file may be read. A hard link to a file of the
   * service counts as that file. Where csv_root is inside the folder of the database, as on a shared volume, its files
   * may be read, because the operator has chosen it.
   */
  reasonAgainst(path: string, file: FileId, realRoot: string): string | null {
    const closed = this.databaseFolders.some(
      (folder) => isInside(folder, path) && (realRoot === folder || !isInside(folder, realRoot)),
    );
    if (closed) return 'is in the folder of the database, which must not be read; put CSV files into another folder';
    return this.ids.has(idOf(file)) ? 'is a file of the service itself; name a CSV file' : null;
  }
}

/** Both paths must be absolute. A folder is inside itself. */
export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const idOf = ({ dev, ino }: FileId): string => `${dev}:${ino}`;

/** Returns the successful lookups. A missing or unreadable file cannot be the file that was opened. */
const found = async <T>(lookups: readonly Promise<T>[]): Promise<T[]> =>
  (await Promise.allSettled(lookups)).flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));

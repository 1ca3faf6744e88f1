import type { BigIntStats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import type { Settings } from '../../../config/settings.js';
import { sqlitePath } from '../../../database/open-database.js';
import { sqliteFilesOf } from '../../../database/sqlite-files.js';

/** Exact: as plain numbers, the inodes of some file systems would be rounded. */
type FileId = Pick<BigIntStats, 'dev' | 'ino'>;

/** The files of the service itself, which hold keys and other clients' data. No request may have them read. */
export class OwnFiles {
  private constructor(
    /** Without links. */
    private readonly databaseFolders: readonly string[],
    private readonly ids: ReadonlySet<string>,
  ) {}

  /** As they are now: a request names a file seldom, and they may have been moved. */
  static async find({ databaseUrl, configurationFiles }: Pick<Settings, 'databaseUrl' | 'configurationFiles'>): Promise<OwnFiles> {
    const path = sqlitePath(databaseUrl);
    const database = path === null ? null : resolve(path);
    const beside = database === null ? [] : sqliteFilesOf(database);
    const folders = database === null ? [] : [realpath(dirname(database)), realpath(database).then(dirname)];
    const ids = [...beside, ...configurationFiles].map((file) => stat(file, { bigint: true }).then(idOf));
    // Awaited together: a rejection that nothing awaits yet would end the process.
    const [databaseFolders, own] = await Promise.all([found(folders), found(ids)]);
    return new OwnFiles(databaseFolders, new Set(own));
  }

  /**
   * Completes "<path> ..."; null where the file may be read. A hard link to a file of the service is that file. Where csv_root is a
   * folder below that of the database, as on a volume that holds both, the operator wants what is in csv_root to be read.
   */
  reasonAgainst(path: string, file: FileId, realRoot: string): string | null {
    const closed = this.databaseFolders.some((folder) => isInside(folder, path) && (realRoot === folder || !isInside(folder, realRoot)));
    if (closed) return 'is in the folder of the database, which is not read; put CSV files into another folder';
    return this.ids.has(idOf(file)) ? 'is a file of the service itself; name a CSV file' : null;
  }
}

/** Both absolute. A folder is inside itself. */
export const isInside = (folder: string, path: string): boolean => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

const idOf = ({ dev, ino }: FileId): string => `${dev}:${ino}`;

/** What there is of them: one that is missing, or that the service may not look at, cannot be what was opened. */
const found = async <T>(lookups: readonly Promise<T>[]): Promise<T[]> =>
  (await Promise.allSettled(lookups)).flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));

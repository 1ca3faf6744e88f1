import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { packageFile } from '../../common/package-files.js';
import { StartError } from '../../database/start-error.js';

/** A file in the encodings that the build made of it. `immutable`: its name changes with its content. */
export interface DashboardFile {
  contentType: string;
  immutable: boolean;
  br?: Buffer;
  gzip?: Buffer;
  /** Returns the file itself. Few clients need it, so it is not kept where there is a compressed form. */
  identity: () => Buffer;
}

const FOLDER = packageFile('dist/dashboard');

const PAGE = 'index.html';

const CONTENT_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** How the page names its files, from the folder that it is in. */
const OWN_FOLDER = '"./';

/**
 * The files of the web app, as `npm run build` made them. They are read when the service starts, so that a browser that
 * has loaded the page also gets the rest of the same build after files on disk were replaced.
 */
export class DashboardFiles {
  private readonly files: Map<string, DashboardFile>;
  private readonly page: string;

  /** Throws a StartError if the app was not built. */
  constructor() {
    this.files = readFolder();
    const page = this.files.get(PAGE);
    if (page === undefined) throw new StartError(`dashboard: ${join(FOLDER, PAGE)} is missing; run npm run build`);
    this.page = page.identity().toString();
  }

  /** Returns `undefined` if the app has no such file. `name` is relative to `/dashboard/`. */
  find(name: string): DashboardFile | undefined {
    return this.files.get(name);
  }

  /**
   * Returns the page as the answer to `path`, from `/dashboard` on. It refers to its files relatively, because a proxy
   * may serve the app under a prefix that this process does not know.
   */
  pageAt(path: string): string {
    const depth = path.split('/').length - 3;
    const toFolder = depth < 0 ? './dashboard/' : depth === 0 ? './' : '../'.repeat(depth);
    return this.page.replaceAll(OWN_FOLDER, `"${toFolder}`);
  }
}

function readFolder(): Map<string, DashboardFile> {
  const files = new Map<string, DashboardFile>();
  for (const name of namesIn(FOLDER)) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    const encoded = (extension: string): Buffer | undefined => readIfThere(join(FOLDER, `${name}${extension}`));
    const immutable = name.startsWith('assets/');
    const gzip = encoded('.gz');
    const file = gzip ?? readFileSync(join(FOLDER, name));
    const identity = (): Buffer => (gzip === undefined ? file : gunzipSync(gzip));
    files.set(name, { contentType, immutable, br: encoded('.br'), gzip, identity });
  }
  return files;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

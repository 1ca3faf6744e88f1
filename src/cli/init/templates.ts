import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { listed, nearestName } from '../../common/names-in-messages.js';
import { packageFile } from '../../common/package-files.js';
import { shown } from '../../common/short-text.js';
import { StartError } from '../../database/start-error.js';

const TEMPLATES = packageFile('templates');
/** The file that describes a template. It is not copied. */
const DESCRIPTION = 'template.json';
/** The files of every template that has no file of that name. */
const COMMON = join(TEMPLATES, 'common');

/** The content of a template's description. */
export interface Template {
  description: string;
  /** Files and folders of other parts of the package, by their paths in the project. */
  from?: Record<string, string>;
  /** For a new package.json. */
  scripts: Record<string, string>;
  /** Packages of which Starling's version is used. */
  dependencies?: string[];
  devDependencies?: string[];
  /** The commands to try, in the order in which they make sense. */
  next: string[];
}

export interface TemplateFile {
  /** Its path in the project. */
  path: string;
  source: string;
}

/** Throws a StartError if no template has that name. */
export function readTemplate(name: string): Template {
  const names = readdirSync(TEMPLATES).filter((folder) => existsSync(join(TEMPLATES, folder, DESCRIPTION)));
  if (names.includes(name)) return JSON.parse(readFileSync(join(TEMPLATES, name, DESCRIPTION), 'utf8')) as Template;
  const nearest = nearestName(name, names);
  const help = nearest === undefined ? `the templates are ${listed(names, 'and')}` : `did you mean ${nearest}?`;
  throw new StartError(`unknown template ${shown(name)}; ${help}`);
}

/** Returns the files that a project of this template gets, sorted by their paths. */
export function filesOf(name: string, { from = {} }: Template): TemplateFile[] {
  const files = [
    ...filesIn(COMMON, ''),
    ...Object.entries(from).flatMap(([path, source]) => filesIn(packageFile(source), path)),
    ...filesIn(join(TEMPLATES, name), '').filter(({ path }) => path !== DESCRIPTION),
  ];
  const byPath = new Map(files.map((file) => [file.path, file]));
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** `source` is a file or a folder. npm leaves some hidden files out of packages, so they begin with `_` here. */
function filesIn(source: string, path: string): TemplateFile[] {
  if (statSync(source).isFile()) return [{ path, source }];
  return readdirSync(source).flatMap((name) => filesIn(join(source, name), join(path, name.replace(/^_/, '.'))));
}

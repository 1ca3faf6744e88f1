import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import { listed } from '../../common/names-in-messages.js';
import { StartError } from '../../database/start-error.js';
import { missingSteps, newManifest, schemaPath } from './project-package.js';
import { filesOf, readTemplate } from './templates.js';

/** The first line of a configuration file, by which editors complete and check it. */
const HEADER = /^# yaml-language-server: \$schema=.*$/m;

/**
 * Writes a project of this template to a folder, which is made if there is none, and prints the next commands. Throws a
 * StartError, and writes nothing, if the template is unknown or if a file exists.
 */
export async function createProject(name: string, dir: string): Promise<void> {
  const template = readTemplate(name);
  const folder = resolve(dir);
  const header = `# yaml-language-server: $schema=${schemaPath(folder)}`;
  const contents = new Map(
    filesOf(name, template).map(({ path, source }) => [
      path,
      path.endsWith('.yaml') ? readFileSync(source, 'utf8').replace(HEADER, header) : readFileSync(source),
    ]),
  );
  const manifest = newManifest(folder, template);
  const steps = manifest === null ? missingSteps(folder, template) : ['npm install'];
  if (manifest !== null) contents.set('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
  write(folder, contents);

  const place = relative('.', folder);
  const next = [...(place === '' ? [] : [`cd ${place}`]), ...steps, ...template.next];
  console.log(`Created ${name}: ${template.description}`);
  for (const path of [...contents.keys()].sort()) console.log(`  ${join(place, path)}`);
  console.log(`Next:\n${next.map((command) => `  ${command}\n`).join('')}README.md says more.`);
}

function write(folder: string, contents: ReadonlyMap<string, string | Buffer>): void {
  const existing = [...contents.keys()].filter((path) => existsSync(join(folder, path)));
  if (existing.length > 0)
    throw new StartError(
      `${listed(existing, 'and')} ${existing.length === 1 ? 'exists' : 'exist'} already in ${folder}, and init overwrites nothing; name another folder with --dir`,
    );
  try {
    for (const [path, content] of contents) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content, { flag: 'wx' });
    }
  } catch (error) {
    throw new StartError(`cannot write to ${folder}: ${(error as Error).message}`);
  }
}

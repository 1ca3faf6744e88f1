import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Plugin } from 'vite';

/** The file that `build.license` writes into the folder of a bundle. */
export const LICENSES = 'LICENSES.md';

/**
 * The texts of packages without a file LICENSE, which is all that Vite reads: copyright lines, and files of this folder.
 * They are from the READMEs, the sources and the repositories of the packages.
 */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/cel': ['Copyright 2024-2026 Buf Technologies, Inc.', 'apache-2.0.txt'],
  '@bufbuild/cel-spec': ['Copyright 2024-2026 Buf Technologies, Inc.', 'apache-2.0.txt'],
  '@bufbuild/protobuf': ['Copyright 2021-2026 Buf Technologies, Inc.', 'apache-2.0.txt', 'google-bsd-3-clause.txt'],
  '@cfworker/json-schema': ['cfworker-json-schema.txt'],
  'pg-types': ['pg-types.txt'],
  pgpass: ['pgpass.txt'],
  standardwebhooks: ['standardwebhooks.txt'],
};

/** Matches before the entry of each package. Its text can have headings too. */
const ENTRY = /^(?=## \S+ - \d)/m;

/**
 * Adds the license texts that Vite does not find. The build fails if one is still missing. `ofWorkers`: packages of web
 * workers, which Vite leaves out.
 */
export const missingLicenses = (ofWorkers: readonly string[] = []): Plugin => ({
  name: 'missing-licenses',
  apply: 'build',
  writeBundle({ dir }) {
    const path = join(dir!, LICENSES);
    const [title, ...entries] = readFileSync(path, 'utf8').split(ENTRY);
    writeFileSync(path, [title, ...entries.map(withText), ...ofWorkers.map(entryOf)].join(''));
  },
});

function entryOf(name: string): string {
  const folder = join(import.meta.dirname, '../node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
  };
  return `\n## ${name} - ${version} (${license})\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
}

function withText(entry: string): string {
  const [heading, ...text] = entry.trimEnd().split('\n');
  if (text.length > 0) return entry;
  const name = heading!.split(' ')[1]!;
  const texts = TEXTS[name];
  if (!texts) throw new Error(`${name} has no file LICENSE; add its license to licenses/missing-licenses.ts`);
  return `${[heading, ...texts.map(textOf)].join('\n\n')}\n\n`;
}

const textOf = (text: string): string =>
  text.endsWith('.txt') ? readFileSync(join(import.meta.dirname, text), 'utf8').trimEnd() : text;

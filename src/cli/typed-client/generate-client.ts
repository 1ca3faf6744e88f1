import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ClientError } from '../client/client-errors.js';
import { configurationFile, missingFile, readConfiguration } from '../configuration.js';
import { type ClientCatalog, clientCatalog } from './client-catalog.js';
import { pythonClient } from './python-client.js';
import { typeScriptClient } from './typescript-client.js';

interface Language {
  file: string;
  comment: string;
  write: (catalog: ClientCatalog) => string;
}

const LANGUAGES: Record<string, Language> = {
  ts: { file: 'starling.ts', comment: '//', write: typeScriptClient },
  python: { file: 'starling.py', comment: '#', write: pythonClient },
};

const MARK = 'Written by `starling client`';

/** Writes a client for the types and agents of a configuration to a folder. Prints the path of the file. */
export async function generateClient({ lang, out, config }: { lang: string; out: string; config?: string }) {
  const language = Object.hasOwn(LANGUAGES, lang) ? LANGUAGES[lang] : undefined;
  if (!language) throw new ClientError(`--lang: must be ${Object.keys(LANGUAGES).join(' or ')} (got "${lang}")`);
  const file = configurationFile(config);
  if (file === undefined) throw missingFile();
  const { catalog } = await readConfiguration(file, {});
  const path = join(out, language.file);
  const head = `${language.comment} ${MARK}. Run it again when the configuration has changed, instead of editing this file.\n\n`;
  write(path, head + language.write(clientCatalog(catalog)));
  console.log(path);
}

function write(path: string, text: string): void {
  try {
    if (existsSync(path) && !readFileSync(path, 'utf8').includes(MARK))
      throw new ClientError(`${path} exists and is not a generated client; name another folder with --out`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(`--out: ${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { parseDocument } from 'yaml';

import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json.js';
import { ClientError } from '../client-errors.js';
import { type Threshold, thresholdsOf } from './thresholds.js';

const MIB = 1_024 * 1_024;
const LARGEST_FILE = MIB;
const MOST_ALIASES = 100;
/** The server's limit for a body may be lower, and then it says so. */
const LARGEST_CSV = 64 * MIB;

/** An experiment as a file describes it. */
export interface ExperimentFile {
  /** The body of the request. The server checks it. */
  request: JsonObject;
  thresholds: Threshold[];
}

/**
 * Reads the file. `data.csv` is the path of a CSV file, from the folder of this file; its text is sent. Throws a
 * ClientError if a file cannot be read, or if a threshold is wrong.
 */
export async function readExperimentFile(file: string): Promise<ExperimentFile> {
  const { thresholds, ...request } = parsed(file, await textOf(file, LARGEST_FILE));
  const named = { variants: namesIn(request.variants), scorers: namesIn(request.scorers) };
  const checked = thresholdsOf(thresholds, named);
  const { data } = request;
  if (!isJsonObject(data) || typeof data.csv !== 'string') return { request, thresholds: checked };
  const csv = await textOf(resolve(dirname(file), data.csv), LARGEST_CSV);
  return { request: { ...request, data: { ...data, csv } }, thresholds: checked };
}

/** JSON is YAML too. */
function parsed(file: string, text: string): JsonObject {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw new ClientError(`${file}: ${error.message.split('\n')[0]!}`);
  const value = valueOf(file, document);
  if (!isJsonObject(value)) throw new ClientError(`${file}: must be an object with data, output, variants and scorers`);
  return value;
}

/** Aliases could make a short file very large. */
function valueOf(file: string, document: ReturnType<typeof parseDocument>): JsonValue {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES }) as JsonValue;
  } catch (error) {
    throw new ClientError(`${file}: ${(error as Error).message}`);
  }
}

async function textOf(file: string, most: number): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > most) throw new ClientError(`${file} has ${size} bytes, and at most ${most} can be sent`);
    const bytes = await readFile(file);
    // Other bytes would be replaced, and an agent would get a different text.
    if (!isUtf8(bytes)) throw new ClientError(`${file} is not UTF-8; save it as UTF-8`);
    return bytes.toString();
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw new ClientError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

const namesIn = (list: JsonValue | undefined): string[] =>
  (Array.isArray(list) ? list : []).flatMap((each) =>
    isJsonObject(each) && typeof each.name === 'string' ? [each.name] : [],
  );

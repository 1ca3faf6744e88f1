import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { ClientError } from './client-errors.js';
import type { Server } from './server.js';

/** Throws a ClientError if `out` cannot be written. Called before a batch, which may run for hours. */
export async function refuseUnwritable(out: string): Promise<void> {
  const existing = await stat(out).catch(() => null);
  if (existing && !existing.isFile()) throw new ClientError(`--out: ${out} is not a regular file`);
  const temporary = temporaryName(out);
  try {
    await (await open(temporary, 'w')).close();
  } catch (error) {
    throw notWritable(out, error);
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Saves all results as CSV if the name ends in `.csv`, otherwise as NDJSON. An existing file is replaced only by a
 * complete one.
 */
export async function saveResults(server: Server, id: string, out: string, signal: AbortSignal): Promise<void> {
  const results = await server.stream(
    `/batch/${encodeURIComponent(id)}/results`,
    isCsvName(out) ? 'text/csv' : 'application/x-ndjson',
    signal,
  );
  await saveText(server, results, out, signal);
}

export const isCsvName = (file: string): boolean => file.toLowerCase().endsWith('.csv');

/** Saves a text that comes from the server. An existing file is replaced only by a complete one. */
export async function saveText(server: Server, results: Readable, out: string, signal: AbortSignal): Promise<void> {
  const temporary = temporaryName(out);
  try {
    await pipeline(results, createWriteStream(temporary, { flush: true }), { signal });
    await rename(temporary, out);
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof ClientError) throw error;
    throw isOfTheFile(error) ? notWritable(out, error) : server.lost(error, 'GET');
  }
}

const temporaryName = (out: string): string => `${out}.${process.pid}.part`;

const isOfTheFile = (error: unknown): boolean =>
  ['open', 'write', 'fsync', 'close', 'rename'].includes((error as NodeJS.ErrnoException).syscall ?? '');

function notWritable(out: string, error: unknown): ClientError {
  const { code } = error as NodeJS.ErrnoException;
  return new ClientError(
    code === 'ENOENT'
      ? `--out: there is no folder ${dirname(out)}; create it, or name another file`
      : `--out: cannot write ${out} (${code})`,
  );
}

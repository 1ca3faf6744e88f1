import { createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { newId } from '../../common/ids.js';

export interface Upload {
  /** Stands for the file; there is nothing at this path any more. */
  path: string;
  /** SHA-256 of its content. */
  digest: string;
}

const files = new Map<string, FileHandle>();

/**
 * Keeps a stream as a temporary file until `dropUpload`. Its name is removed at once and the open file alone remains, which
 * the operating system takes away with the process, so that no crash leaves uploads behind. Rejects with what the stream or
 * the disk fails with, and keeps nothing.
 */
export async function keepUpload(stream: Readable): Promise<Upload> {
  const path = join(tmpdir(), `starling-upload-${newId()}.csv`);
  const file = await open(path, 'wx+', 0o600);
  const sum = createHash('sha256');
  const summed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sum.update(chunk);
      yield chunk;
    }
  };
  try {
    await unlink(path);
    // Not through a stream of the file: without closing it, that would never let go of it.
    await file.writeFile(summed());
  } catch (error) {
    await file.close();
    throw error;
  }
  files.set(path, file);
  return { path, digest: sum.digest('base64url') };
}

/** The open file of an upload that is still kept. */
export function useUpload(path: string): FileHandle {
  const file = files.get(path);
  if (!file) throw new Error(`there is no upload ${path}`);
  return file;
}

export async function dropUpload(path: string): Promise<void> {
  const file = files.get(path);
  files.delete(path);
  await file?.close();
}

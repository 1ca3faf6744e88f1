import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DomainError } from '../../../common/domain-error.js';
import { newId } from '../../../common/ids.js';
import type { FileSpace, UploadSpace } from './upload-space.js';

/**
 * A file whose name is removed right after it is opened. The operating system frees it when the process ends, so that a
 * crash leaves no uploads behind.
 */
export class TemporaryFile {
  private readonly taken: FileSpace;
  private refusal: Error | null = null;

  private constructor(
    readonly handle: FileHandle,
    private readonly space: UploadSpace,
    onRefused: (error: Error) => void,
  ) {
    this.taken = space.begin((error) => {
      this.refusal = error;
      onRefused(error);
      // Closed now, because the next bytes may come an hour later.
      this.close().catch(() => undefined);
    });
  }

  /** Calls `onRefused` if other uploads need the space before the file is complete. */
  static async open(space: UploadSpace, onRefused: (error: Error) => void): Promise<TemporaryFile> {
    const path = join(tmpdir(), `starling-upload-${newId()}`);
    const handle = await open(path, 'wx+', 0o600).catch(explain);
    try {
      await unlink(path);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return new TemporaryFile(handle, space, onRefused);
  }

  /** Throws DomainError `unavailable` if there is no space or other uploads needed it. */
  async append(part: Buffer): Promise<void> {
    if (this.refusal) throw this.refusal;
    this.space.grow(this.taken, part.length);
    try {
      await this.handle.appendFile(part);
    } catch (error) {
      throw this.refusal ?? explained(error as NodeJS.ErrnoException);
    }
  }

  /** Call it after the last part. Throws the error of `append` if the file was refused. */
  arrived(): void {
    this.space.arrived(this.taken);
    if (this.refusal) throw this.refusal;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.space.arrived(this.taken);
    this.taken.held.release();
    await this.handle.close();
  }
}

function explain(error: NodeJS.ErrnoException): never {
  throw explained(error);
}

function explained(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') return error;
  return new DomainError(
    'unavailable',
    'The upload cannot be stored: the disk for temporary files is full; free some space, and try again',
    { cause: error },
  );
}

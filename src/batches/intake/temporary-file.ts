import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import type { UploadSpace } from './upload-space.js';

/**
 * A file without a name: that is removed at once and the open file alone remains, which the operating system takes away with the
 * process, so that no crash leaves uploads behind.
 */
export class TemporaryFile {
  private constructor(
    readonly handle: FileHandle,
    private readonly space: MemoryReservation,
  ) {}

  static async open(space: UploadSpace): Promise<TemporaryFile> {
    const path = join(tmpdir(), `starling-upload-${newId()}`);
    const handle = await open(path, 'wx+', 0o600).catch(explain);
    try {
      await unlink(path);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return new TemporaryFile(handle, space.reserve(0));
  }

  /** DomainError `unavailable` where there is no space. */
  async append(part: Buffer): Promise<void> {
    this.space.grow(part.length);
    await this.handle.appendFile(part).catch(explain);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.space.release();
    await this.handle.close();
  }
}

function explain(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw error;
  throw new DomainError('unavailable', 'The upload cannot be kept: the disk for temporary files is full; free some space, and try again', { cause: error });
}

import { CollectedBytes } from '../../../http/bodies/collected-bytes.js';
import { chunksOf } from './file-chunks.js';
import { TemporaryFile } from './temporary-file.js';
import type { UploadSpace } from './upload-space.js';

const IN_MEMORY_BYTES = 64 * 1_024;
const CHUNK_BYTES = 64 * 1_024;

/**
 * Stores a body that is read several times: the beginning in memory, the rest in a temporary file. Most bodies fit in
 * memory.
 */
export class Spool {
  private readonly beginning: CollectedBytes;
  private rest: TemporaryFile | null = null;

  /** For `take` see CollectedBytes, for `onRefused` see TemporaryFile. */
  constructor(
    private readonly space: UploadSpace,
    take: (bytes: number) => void,
    private readonly onRefused: (error: Error) => void,
  ) {
    this.beginning = new CollectedBytes(take);
  }

  async add(part: Buffer): Promise<void> {
    if (this.rest === null && this.beginning.size + part.length <= IN_MEMORY_BYTES) return this.beginning.add(part);
    this.rest ??= await TemporaryFile.open(this.space, this.onRefused);
    await this.rest.append(part);
  }

  /** Call it after the last part. Throws DomainError `unavailable` if other uploads needed the space. */
  arrived(): void {
    this.rest?.arrived();
  }

  async *chunks(): AsyncGenerator<Buffer> {
    yield this.beginning.slice(0, this.beginning.size);
    if (this.rest) yield* chunksOf(this.rest.handle, CHUNK_BYTES);
  }

  async close(): Promise<void> {
    this.beginning.takeAll();
    await this.rest?.close();
  }
}

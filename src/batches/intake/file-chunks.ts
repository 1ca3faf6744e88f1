import type { FileHandle } from 'node:fs/promises';

/** An open file from its beginning. Not as a stream of the file: that closes it, or keeps hold of it, where reading ends early. */
export async function* chunksOf(file: FileHandle, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    // Each its own: whoever reads may keep what it has not finished.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

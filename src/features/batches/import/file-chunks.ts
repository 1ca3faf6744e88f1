import type { FileHandle } from 'node:fs/promises';

/** An open file from its beginning. Not as a stream of the file: that closes it, or keeps hold of it, where reading ends early. */
export async function* chunksOf(file: FileHandle, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    // Each chunk has a new buffer, because the reader may keep the one before.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

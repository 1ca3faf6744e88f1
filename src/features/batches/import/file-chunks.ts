import type { FileHandle } from 'node:fs/promises';

/** Yields an open file from its beginning. A stream of the file would close or lock it if reading ends early. */
export async function* chunksOf(file: FileHandle, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    // Each chunk gets a new buffer, because the reader may keep the previous one.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

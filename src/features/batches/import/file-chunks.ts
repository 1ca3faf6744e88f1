/** A file that is open, or something that is read like one. */
export interface ByteSource {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Buffer }>;
}

/** Bytes that are in memory. */
export const inMemory = (bytes: Buffer): ByteSource => ({
  read: async (buffer, offset, length, position) => ({
    bytesRead: bytes.copy(buffer, offset, position, position + length),
    buffer,
  }),
});

/** Yields an open file from its beginning. A stream of the file would close or lock it if reading ends early. */
export async function* chunksOf(file: ByteSource, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    // Each chunk gets a new buffer, because the reader may keep the previous one.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

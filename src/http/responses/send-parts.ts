import type { Response } from 'express';

import type { TextInParts, TextPart } from '../../common/text-in-parts.js';
import { WRITE_BYTES } from '../connections/slow-readers.js';

export type Send = (response: Response, text: string) => Promise<void> | void;

/**
 * Sends a text while it is made, no faster than the client reads it. `sendWhole` sends a text that consists of one
 * part. Rejects if the text cannot be made; the answer is then cut off if some of it was already sent.
 */
export async function sendParts(response: Response, source: TextInParts, sendWhole: Send): Promise<void> {
  const parts = source.parts();
  try {
    let part = await nextPart(parts);
    response.setHeader('Content-Type', source.contentType);
    if (part.isLast) {
      // `sendWhole` reserves its memory.
      await parts.return();
      return await sendWhole(response, part.text);
    }
    const isWanted = (): boolean => response.req.method !== 'HEAD' && !response.closed;
    while (isWanted()) {
      await write(response, part);
      if (part.isLast || !isWanted()) break;
      part = await nextPart(parts);
    }
    response.end();
  } finally {
    await parts.return();
  }
}

const nextPart = async (parts: AsyncGenerator<TextPart, void>): Promise<TextPart> => (await parts.next()).value!;

/**
 * Resolves when the system has taken all bytes, or the connection is closed. Drops the text once it is encoded as
 * bytes.
 */
export async function write(response: Response, part: { text: string }): Promise<void> {
  const bytes = Buffer.from(part.text);
  part.text = '';
  for (let start = 0; start < bytes.length && !response.closed; start += WRITE_BYTES) {
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      response.write(bytes.subarray(start, start + WRITE_BYTES), () => {
        response.off('close', resolve);
        resolve();
      });
    });
  }
}

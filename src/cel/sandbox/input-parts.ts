import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

import { LARGEST_INPUT } from '../language/expression-limits.js';
import { jsonPieces } from '../language/json-pieces.js';

const LONGEST_TURN_MS = 2;
// Sending copies the text, several times for text that is not Latin.
const PART_LENGTH = 2 ** 18;

/**
 * The JSON text of `value` in parts that can each be sent quickly, made without blocking the main thread. Null if the
 * text is longer than `LARGEST_INPUT`, or nests too deeply for the stack.
 */
export async function inputParts(value: object): Promise<string[] | null> {
  try {
    return await collect(jsonPieces(value));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function collect(pieces: Iterable<string>): Promise<string[] | null> {
  const parts = [''];
  let length = 0;
  let turn = performance.now();
  for (const piece of pieces) {
    length += piece.length;
    if (length > LARGEST_INPUT) return null;
    addPiece(parts, piece);
    if (performance.now() - turn < LONGEST_TURN_MS) continue;
    await yieldToEventLoop();
    turn = performance.now();
  }
  return parts;
}

function addPiece(parts: string[], piece: string): void {
  if (parts.at(-1)!.length + piece.length <= PART_LENGTH) parts.push(parts.pop()! + piece);
  else
    for (let start = 0; start < piece.length; start += PART_LENGTH) parts.push(piece.slice(start, start + PART_LENGTH));
}

import type { ModelSource } from './model-providers.js';

type Keyed = Pick<ModelSource, 'key'>;

/** A shorter one is what a server without keys is given for one, and would be found in any text. */
const SHORTEST_KEY = 6;
const INSTEAD = '[key]';

const keyOf = ({ key }: Keyed): string | null => (key === undefined || key.length < SHORTEST_KEY ? null : key);

/** Whatever a server sends back, the key does not go on from here. */
export function withoutKey(text: string, source: Keyed): string {
  const key = keyOf(source);
  return key === null ? text : text.replaceAll(key, INSTEAD);
}

/** The same for what a JSON text says, however it is written there. */
export function withoutKeyIn(value: unknown, source: Keyed): unknown {
  const key = keyOf(source);
  if (key === null) return value;
  const text = JSON.stringify(value);
  const written = JSON.stringify(key).slice(1, -1);
  return text.includes(written) ? JSON.parse(text.replaceAll(written, INSTEAD)) : value;
}

/** The same for a text that comes in pieces: an end that may be the beginning of the key waits for what follows. */
export class PiecesWithoutKey {
  private held = '';

  constructor(private readonly source: Keyed) {}

  /** What may be shown by now. */
  add(piece: string): string {
    const text = withoutKey(this.held + piece, this.source);
    const length = this.waiting(text);
    this.held = text.slice(text.length - length);
    return text.slice(0, text.length - length);
  }

  /** What waits, when nothing follows. */
  end(): string {
    const rest = this.held;
    this.held = '';
    return rest;
  }

  private waiting(text: string): number {
    const key = keyOf(this.source);
    if (key === null) return 0;
    let length = Math.min(key.length - 1, text.length);
    while (!text.endsWith(key.slice(0, length))) length -= 1;
    return length;
  }
}

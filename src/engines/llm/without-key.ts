import type { ModelSource } from './model-providers.js';

type Keyed = Pick<ModelSource, 'key'>;

/** A shorter key is a placeholder for servers without keys and could occur in any text, so it is not replaced. */
const SHORTEST_KEY = 6;
const INSTEAD = '[key]';

const keyOf = ({ key }: Keyed): string | null => (key === undefined || key.length < SHORTEST_KEY ? null : key);

/** Removes the key from a text that a server sent, so that it is never passed on. */
export function withoutKey(text: string, source: Keyed): string {
  const key = keyOf(source);
  return key === null ? text : text.replaceAll(key, INSTEAD);
}

/** Removes the key from a JSON value, in any escaped form. */
export function withoutKeyIn(value: unknown, source: Keyed): unknown {
  const key = keyOf(source);
  if (key === null) return value;
  const text = JSON.stringify(value);
  const written = JSON.stringify(key).slice(1, -1);
  return text.includes(written) ? JSON.parse(text.replaceAll(written, INSTEAD)) : value;
}

/** Removes the key from a text that arrives in pieces. It holds back an end that may be the start of the key. */
export class PiecesWithoutKey {
  private held = '';

  constructor(private readonly source: Keyed) {}

  /** Returns the text that can be shown now. */
  add(piece: string): string {
    const text = withoutKey(this.held + piece, this.source);
    const length = this.waiting(text);
    this.held = text.slice(text.length - length);
    return text.slice(0, text.length - length);
  }

  /** Returns the rest of the text, when no piece follows. */
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

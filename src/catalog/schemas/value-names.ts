import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../common/json.js';

/** V8 hashes a longer string by its length alone, so that a table of such strings of one length compares each with every other. */
const LONGEST_KEY = 16_000;

/**
 * Names for JSON values: two have the same name where they are equal, and only there. Each list and object is looked at once, however
 * often its name or that of a list around it is asked for: in the name of a value, those of its parts stand for them.
 */
export class ValueNames {
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<object, string>();

  of(value: JsonValue): string {
    if (typeof value === 'string') return shortened(JSON.stringify(value));
    // Not a bare number, whose place in a hash table a client can foresee.
    if (typeof value !== 'object' || value === null) return `=${JSON.stringify(value)}`;
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const name = this.numbered(Array.isArray(value) ? this.describeList(value) : this.describeObject(value));
    this.known.set(value, name);
    return name;
  }

  private describeList(items: JsonValue[]): string {
    return `[${items.map((item) => this.of(item)).join()}]`;
  }

  private describeObject(object: JsonObject): string {
    const entries = Object.keys(object).sort().map((key) => `${JSON.stringify(key)}:${this.of(object[key]!)}`);
    return `{${entries.join()}}`;
  }

  private numbered(description: string): string {
    const key = shortened(description);
    const number = this.numbers.get(key) ?? this.numbers.size;
    this.numbers.set(key, number);
    return `#${number}`;
  }
}

/** Texts from `JSON.stringify` have no lone surrogates, of which different ones would have one hash. */
const shortened = (text: string): string => (text.length <= LONGEST_KEY ? text : `~${hash('sha256', text)}`);

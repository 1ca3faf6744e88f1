import { hash } from 'node:crypto';

import type { Ajv } from 'ajv';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';

import type { JsonObject, JsonValue } from '../../common/json.js';

/**
 * `uniqueItems` in time proportional to the payload, on any number of levels. Ajv's implementation compares each object
 * with every other one, and reads the contents of an item again on each level.
 */
export class UniqueItems {
  private names: ValueNames | undefined;

  addTo(ajv: Ajv): void {
    ajv.removeKeyword('uniqueItems').addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      errors: true,
      compile: (wanted: boolean) => (wanted ? this.check : () => true),
    });
  }

  /** Call this when a payload has been checked. */
  forget(): void {
    this.names = undefined;
  }

  private readonly check: DataValidateFunction = (items: JsonValue[]) => {
    this.names ??= new ValueNames();
    const positions = new Map<string, number>();
    for (const [position, item] of items.entries()) {
      const name = this.names.of(item);
      const same = positions.get(name);
      if (same !== undefined) {
        this.check.errors = [
          { keyword: 'uniqueItems', params: { i: position, j: same }, message: 'must NOT have duplicate items' },
        ];
        return false;
      }
      positions.set(name, position);
    }
    return true;
  };
}

/**
 * V8 hashes longer strings only by their length, so a table of such strings with equal lengths compares each with every
 * other.
 */
const LONGEST_KEY = 16_000;

/**
 * Names for JSON values: two values have the same name exactly if they are equal. Each list and object is read only
 * once, because the name of a value is made of the names of its parts.
 */
class ValueNames {
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<object, string>();

  of(value: JsonValue): string {
    if (typeof value === 'string') return shortened(JSON.stringify(value));
    // A bare number would not do, because a client can predict its place in a hash table.
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
    const entries = Object.keys(object)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${this.of(object[key]!)}`);
    return `{${entries.join()}}`;
  }

  private numbered(description: string): string {
    const key = shortened(description);
    const number = this.numbers.get(key) ?? this.numbers.size;
    this.numbers.set(key, number);
    return `#${number}`;
  }
}

/** Texts from `JSON.stringify` contain no lone surrogates, of which different ones would have the same hash. */
const shortened = (text: string): string => (text.length <= LONGEST_KEY ? text : `~${hash('sha256', text)}`);

import type { Ajv } from 'ajv';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';

import type { JsonValue } from '../../common/json.js';
import { ValueNames } from './value-names.js';

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

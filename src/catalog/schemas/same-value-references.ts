import type { AnySchema, KeywordCxt } from 'ajv';
import { SchemaEnv } from 'ajv/dist/compile/index.js';

interface Reference {
  from: AnySchema;
  to: AnySchema;
}

/**
 * The references of a schema that apply to the same value as the schema around them: for example those in `allOf` or
 * `not`, but not those in `properties` or `items`. If they form a circle, checking a value never ends.
 */
export class SameValueReferences {
  /** Keyed by the part of the schema with the `$ref`. */
  private readonly references = new Map<unknown, Reference>();

  /** A target that is not a SchemaEnv contains no references. */
  add({ parentSchema, it }: KeywordCxt, target: unknown): void {
    if (it.dataLevel === 0 && target instanceof SchemaEnv)
      this.references.set(parentSchema, { from: it.schemaEnv.schema, to: target.schema });
  }

  /** The parts of the schema whose `$ref` is in a circle. */
  endless(): unknown[] {
    return [...this.references].filter(([, { from, to }]) => this.leads(to, from)).map(([part]) => part);
  }

  private leads(from: AnySchema, to: AnySchema, seen = new Set<AnySchema>()): boolean {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    return [...this.references.values()].some(
      (reference) => reference.from === from && this.leads(reference.to, to, seen),
    );
  }
}

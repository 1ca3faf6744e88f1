import type { Ajv, AnySchema, AnySchemaObject, CodeKeywordDefinition, ErrorObject, KeywordCxt } from 'ajv';
import { resolveRef, SchemaEnv } from 'ajv/dist/compile/index.js';
import type { DataValidationCxt, Evaluated, ValidateFunction } from 'ajv/dist/types/index.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';

/**
 * Errors that are kept for one value. Without a limit, the errors of all paths through a recursive schema would double
 * at each level.
 */
const MOST_ERRORS = 20;

interface Judgement {
  valid: boolean;
  errors: ErrorObject[] | null;
  evaluated: Evaluated | undefined;
}

/**
 * While one payload is checked, stores the result of a recursive schema for each value. Without that, each `anyOf` or
 * `oneOf` checks everything below it again: two branches and 60 levels would practically never end.
 */
export class RecursiveReferences {
  private readonly judged = new Map<SchemaEnv, Map<object, Judgement>>();
  readonly sameValue = new SameValueReferences();
  /** The schemas that `$ref`s lead to, by the schema with the `$ref`. */
  readonly targets = new Map<unknown, unknown>();

  addTo(ajv: Ajv): void {
    const rule = ajv.RULES.all.$ref as { definition: CodeKeywordDefinition };
    const { code } = rule.definition;
    rule.definition = {
      ...rule.definition,
      code: (context, type) => {
        const referred = targetOf(context);
        this.sameValue.add(context, referred);
        this.targets.set(context.parentSchema, referred instanceof SchemaEnv ? referred.schema : referred);
        const target = enclosing(referred);
        if (target === null) code(context, type);
        else callRef(context, context.gen.scopeValue('func', { ref: this.remembering(target) }), target);
      },
    };
  }

  /** Call this when a payload has been checked. */
  forget(): void {
    this.judged.clear();
  }

  private remembering(target: SchemaEnv): ValidateFunction {
    const call = ((value: unknown, context?: DataValidationCxt): boolean => {
      const { valid, errors, evaluated } = this.judge(target, value, context);
      call.errors = errors && [...errors];
      call.evaluated = evaluated && copied(evaluated);
      return valid;
    }) as ValidateFunction;
    return call;
  }

  private judge(target: SchemaEnv, value: unknown, context: DataValidationCxt | undefined): Judgement {
    const values = this.judged.get(target) ?? new Map<object, Judgement>();
    this.judged.set(target, values);
    const known = values.get(value as object);
    if (known) return known;
    const judgement = judgementOf(target.validate as ValidateFunction, value, context);
    if (typeof value === 'object' && value !== null) values.set(value, judgement);
    return judgement;
  }
}

function judgementOf(validate: ValidateFunction, value: unknown, context: DataValidationCxt | undefined): Judgement {
  const valid = validate(value, context);
  return {
    valid,
    errors: validate.errors?.slice(0, MOST_ERRORS) ?? null,
    evaluated: validate.evaluated && copied(validate.evaluated),
  };
}

/** A copy, because the caller modifies the result, including the errors. */
const copied = ({ props, ...others }: Evaluated): Evaluated => ({
  ...others,
  props: typeof props === 'object' ? { ...props } : props,
});

type Target = SchemaEnv | AnySchemaObject | boolean | undefined;

function targetOf({ schema: reference, it }: KeywordCxt): Target {
  const { root } = it.schemaEnv;
  const isRoot = (reference === '#' || reference === '#/') && it.baseId === root.baseId;
  return isRoot ? root : resolveRef.call(it.self, root, it.baseId, reference as string);
}

/**
 * Returns the schema that a `$ref` leads to if the reference is inside that schema, which is then being compiled.
 * Otherwise null.
 */
const enclosing = (target: Target): SchemaEnv | null =>
  target instanceof SchemaEnv && target.validate === undefined ? target : null;

interface Reference {
  from: AnySchema;
  to: AnySchema;
}

/**
 * The references of a schema that apply to the same value as the schema around them: for example those in `allOf` or
 * `not`, but not those in `properties` or `items`. If they form a circle, checking a value never ends.
 */
class SameValueReferences {
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

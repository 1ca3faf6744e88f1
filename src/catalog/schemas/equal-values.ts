import { _, type Ajv, type CodeKeywordDefinition } from 'ajv';

import { isJsonObject, type JsonValue } from '../../common/json.js';

/**
 * `const` and `enum` with lists or objects in them. Ajv's comparison reads the `constructor`, `valueOf` and `toString`
 * of each object, which are ordinary keys in a payload.
 */
export function addEqualValues(ajv: Ajv): void {
  for (const keyword of ['const', 'enum'] as const) {
    const rule = ajv.RULES.all[keyword] as { definition: CodeKeywordDefinition };
    const { code } = rule.definition;
    rule.definition = {
      ...rule.definition,
      code: (context, type) => {
        const wanted = (keyword === 'enum' ? context.schema : [context.schema]) as JsonValue[];
        if (wanted.every((value) => typeof value !== 'object')) return code(context, type);
        const isWanted = context.gen.scopeValue('func', {
          ref: (value: JsonValue) => wanted.some((each) => areEqual(each, value)),
        });
        context.fail(_`!${isWanted}(${context.data})`);
      },
    };
  }
}

/** Compares two values in time proportional to `wanted`. Reads only own fields of objects. */
function areEqual(wanted: JsonValue, value: JsonValue): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((item, position) => areEqual(item, value[position]!))
    );
  }
  if (!isJsonObject(wanted)) return wanted === value;
  const keys = Object.keys(wanted);
  return (
    isJsonObject(value) &&
    Object.keys(value).length === keys.length &&
    keys.every((key) => Object.hasOwn(value, key) && areEqual(wanted[key]!, value[key]!))
  );
}

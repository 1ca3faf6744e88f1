import { _, type Ajv, type CodeKeywordDefinition, Name } from 'ajv';

/**
 * Ajv keeps the names that an `anyOf` or `$ref` has evaluated as fields of an object, and `unevaluatedProperties` finds
 * inherited ones such as `constructor` among them. Without a prototype there are none.
 */
export function addEvaluatedNames(ajv: Ajv): void {
  const rule = ajv.RULES.all.unevaluatedProperties as { definition: CodeKeywordDefinition } | undefined;
  // Draft-07 does not have the keyword.
  if (!rule) return;
  const { code } = rule.definition;
  rule.definition = {
    ...rule.definition,
    code: (context, type) => {
      const { props } = context.it;
      if (props instanceof Name)
        context.gen.if(_`${props} && ${props} !== true`, () =>
          context.gen.code(_`Object.setPrototypeOf(${props}, null)`),
        );
      code(context, type);
    },
  };
}

import type { FieldProps, Registry, RJSFSchema } from '@rjsf/utils';
import { type ReactNode, useState } from 'react';

import { idOf } from './fields';
import { constantsOf } from './form-value';
import { FieldError } from './templates';
import { validator } from './validator';
import { Choice } from './widgets';

/**
 * The choice among alternatives, and the fields of the chosen one. That of the library takes the first alternative as
 * chosen while the value is absent, so it could not be chosen.
 */
export function Alternatives(props: FieldProps): ReactNode {
  const { schema, formData, onChange, fieldPathId, registry, errorSchema, required = false, name } = props;
  const [chosen, setChosen] = useState<number>();
  const options = props['options'] as RJSFSchema[];
  const index = formData === undefined ? chosen : alternativeOf(formData, options, chosen, registry);
  const alternative = index === undefined ? undefined : options[index];
  const choose = (next: number | undefined): void => {
    setChosen(next);
    onChange(beginningOf(next === undefined ? undefined : options[next]), fieldPathId.path);
  };
  const SchemaField = registry.fields['SchemaField']!;
  const id = idOf(fieldPathId.$id, schema);
  // The fields of the chosen alternative show them.
  const errors = alternative === undefined ? (errorSchema?.__errors ?? []) : [];
  return (
    <div className="flex flex-col gap-2">
      <Choice
        id={id}
        schema={schema}
        label={schema.title ?? name}
        options={{ enumOptions: options.map(({ title = '' }, value) => ({ value, label: title })) }}
        value={index}
        onChange={choose}
        required={required}
        rawErrors={errors}
      />
      {alternative === undefined ? (
        <FieldError errors={errors} fieldPathId={{ ...fieldPathId, $id: id }} schema={schema} registry={registry} />
      ) : (
        alternative.type !== 'null' && <SchemaField {...props} schema={shownOf(alternative)} required />
      )}
    </div>
  );
}

function alternativeOf(
  value: unknown,
  options: RJSFSchema[],
  chosen: number | undefined,
  { schemaUtils }: Registry,
): number {
  const fitting = options.flatMap((one, index) => (validator.isValid(one, value, one) ? [index] : []));
  if (chosen !== undefined && (fitting.length === 0 || fitting.includes(chosen))) return chosen;
  return fitting[0] ?? schemaUtils.getClosestMatchingOption(value, options);
}

/** Without the fields that the choice itself has filled in. */
function shownOf(alternative: RJSFSchema): RJSFSchema {
  const { properties } = alternative;
  if (properties === undefined) return alternative;
  const constants = constantsOf(alternative);
  const shown = Object.entries(properties).filter(([name]) => !(name in constants));
  return { ...alternative, properties: Object.fromEntries(shown) };
}

/** The part of a value that is known when its alternative is chosen. */
function beginningOf(alternative: RJSFSchema | undefined): unknown {
  if (alternative === undefined) return undefined;
  if (alternative.type === 'null') return null;
  const constants = constantsOf(alternative);
  return Object.keys(constants).length > 0 ? constants : undefined;
}

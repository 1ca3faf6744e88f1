import { type BaseInputTemplateProps, titleId, type WidgetProps } from '@rjsf/utils';
import type { ReactNode } from 'react';

import { ariaOf, isLong, isNumber, isShort, isWhole } from './fields';

const CONTROL = 'control aria-invalid:border-failed';

/** A text, a number or a day. */
export function Input(props: BaseInputTemplateProps): ReactNode {
  const { id, type = 'text', schema, options, required = false, value, onChange } = props;
  const shared = {
    id,
    value: (value ?? '') as string,
    ...ariaOf(props),
    'aria-required': required,
    onChange: ({ target }: { target: { value: string } }) =>
      onChange(target.value === '' ? options.emptyValue : target.value),
  };
  // A native number input changes when the wheel turns over it, and hides what is not a number.
  if (isNumber(schema))
    return <input {...shared} inputMode={isWhole(schema) ? 'numeric' : 'decimal'} className={`${CONTROL} w-44`} />;
  if (isLong(schema))
    return <textarea {...shared} rows={1} className={`${CONTROL} field-sizing-content h-auto min-h-8 w-full py-1.5`} />;
  return <input {...shared} type={type} className={`${CONTROL} ${type === 'date' ? 'w-44' : 'w-full'}`} />;
}

export type ChoiceProps = Pick<
  WidgetProps,
  'id' | 'schema' | 'label' | 'options' | 'value' | 'onChange' | 'required' | 'multiple' | 'rawErrors'
>;

/** Chooses one or several of the values. A short list is shown as buttons, so that all values are visible. */
export function Choice(props: ChoiceProps): ReactNode {
  const { multiple = false, options } = props;
  return multiple || isShort(options.enumOptions?.length) ? <Buttons {...props} /> : <Select {...props} />;
}

function Select(props: ChoiceProps): ReactNode {
  const { id, value, onChange, required = false } = props;
  const choices = props.options.enumOptions ?? [];
  const chosen = choices.findIndex((choice) => choice.value === value);
  return (
    <select
      id={id}
      value={chosen === -1 ? '' : chosen}
      {...ariaOf(props)}
      aria-required={required}
      onChange={({ target }) => onChange(choices[Number(target.value || -1)]?.value)}
      className={`${CONTROL} max-w-full self-start`}
    >
      {(chosen === -1 || !required) && <option value="">{required ? 'Choose one' : 'none'}</option>}
      {choices.map(({ label }, index) => (
        <option key={index} value={index}>
          {label}
        </option>
      ))}
    </select>
  );
}

function Buttons(props: ChoiceProps): ReactNode {
  const { id, multiple = false, options, value, onChange, required = false, label } = props;
  const choices = options.enumOptions ?? [];
  const taken = (multiple ? (value ?? []) : [value]) as unknown[];
  const choose = (choice: unknown): void => {
    if (!multiple) onChange(choice);
    else onChange(taken.includes(choice) ? taken.filter((one) => one !== choice) : [...taken, choice]);
  };
  return (
    <div
      id={id}
      role={multiple ? 'group' : 'radiogroup'}
      aria-labelledby={titleId(id)}
      {...ariaOf(props)}
      {...(!multiple && { 'aria-required': required })}
      className="flex flex-wrap items-center gap-2"
    >
      {choices.map((choice, index) => (
        <label
          key={index}
          className="button h-auto min-h-8 max-w-full py-1 whitespace-normal has-checked:border-accent has-checked:bg-selected"
        >
          <input
            type={multiple ? 'checkbox' : 'radio'}
            name={id}
            checked={taken.includes(choice.value)}
            onChange={() => choose(choice.value)}
            className="shrink-0 accent-accent"
          />
          {choice.label}
        </label>
      ))}
      {!multiple && !required && value !== undefined && (
        <button
          type="button"
          className="link min-h-6 text-label"
          aria-label={`Clear ${label}`}
          onClick={() => onChange(undefined)}
        >
          Clear
        </button>
      )}
    </div>
  );
}

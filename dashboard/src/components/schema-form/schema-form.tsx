// The package's index also imports a validator that is not installed.
import Form from '@rjsf/core/lib/components/Form.js';
import type { ErrorSchema, RJSFSchema } from '@rjsf/utils';
import { type ReactNode, useEffect, useId, useRef } from 'react';

import { Alternatives } from './alternatives';
import { tidied } from './form-value';
import { ArrayItem, ArrayItems, Field, FieldError, ObjectFields } from './templates';
import { validator } from './validator';
import { Choice, Input } from './widgets';

const TEMPLATES = {
  FieldTemplate: Field,
  FieldErrorTemplate: FieldError,
  ObjectFieldTemplate: ObjectFields,
  ArrayFieldTemplate: ArrayItems,
  ArrayFieldItemTemplate: ArrayItem,
  BaseInputTemplate: Input,
};

const FIELDS = { OneOfField: Alternatives };

const WIDGETS = { SelectWidget: Choice, CheckboxWidget: Choice };

/** Empty fields get no default, because an answer must contain only values that its author has chosen. */
const FILL_NOTHING = {
  constAsDefaults: 'never',
  emptyObjectFields: 'skipDefaults',
  arrayMinItems: { populate: 'never' },
  requiredBooleanDefault: 'skip',
} as const;

export interface SchemaFormProps {
  /** The plan that `planForm` returned. */
  schema: RJSFSchema;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown>) => void;
  /** The refusals of the service, by field. The first field with a refusal gets the focus. */
  refused: ErrorSchema;
}

/** Fields for a JSON object. A lazy part of the app. */
export default function SchemaForm({ schema, value, onChange, refused }: SchemaFormProps): ReactNode {
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const wrong = root.current?.querySelector<HTMLElement>('[aria-invalid]');
    (wrong?.querySelector('input') ?? wrong)?.focus();
  }, [refused]);
  return (
    <div ref={root}>
      <Form
        // It is inside the form that sends the value.
        tagName="div"
        className="contents"
        idPrefix={id}
        // Ids are unique also if names contain underscores.
        idSeparator="/"
        schema={schema}
        formData={value}
        onChange={({ formData }) => onChange(tidied(schema, formData) as Record<string, unknown>)}
        validator={validator}
        extraErrors={refused}
        showErrorList={false}
        templates={TEMPLATES}
        fields={FIELDS}
        widgets={WIDGETS}
        experimental_defaultFormStateBehavior={FILL_NOTHING}
      >
        <></>
      </Form>
    </div>
  );
}

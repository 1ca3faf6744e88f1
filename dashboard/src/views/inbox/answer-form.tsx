import { type ReactNode, useState } from 'react';

import { ChoiceField } from '../../components/fields';
import { parseObject } from '../../components/json-field';
import { PayloadField } from '../../components/payload-field';
import { presetOf, type Schema } from '../../json-example';

export interface Output {
  type: string;
  payload: Record<string, unknown>;
}

interface AnswerFormProps {
  /** The schema of each type that may be answered with. */
  form: Record<string, object>;
  isBusy: boolean;
  error: Error | null;
  submit: (outputs: Output[]) => void;
  children: ReactNode;
}

/** An answer of one of the types. Nothing is filled in beforehand but what the schema itself presets. */
export function AnswerForm({ form, isBusy, error, submit, children }: AnswerFormProps): ReactNode {
  const types = Object.keys(form);
  const [type, setType] = useState(types[0] ?? '');
  const [typed, setTyped] = useState<Record<string, string>>({});
  const schema = (form[type] ?? {}) as Schema;
  const value = typed[type] ?? JSON.stringify(presetOf(schema), undefined, 2);
  const { object } = parseObject(value);
  const send = (): void => {
    if (object !== undefined && !isBusy) submit([{ type, payload: object }]);
  };
  return (
    <form
      aria-label="Answer"
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {types.length > 1 && (
        <ChoiceField
          label="Answer with"
          value={type}
          choices={types.map((name) => ({ value: name, text: name }))}
          onChange={setType}
        />
      )}
      <div data-answer className="min-w-0">
        <PayloadField
          key={type}
          label={type}
          schema={schema}
          value={value}
          onChange={(next) => setTyped({ ...typed, [type]: next })}
          onSubmit={send}
          error={error}
          rows={8}
        />
      </div>
      {error && (
        <p role="alert" className="text-table text-failed">
          {error.message}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button-main" disabled={isBusy || object === undefined}>
          Complete
        </button>
        {children}
      </div>
    </form>
  );
}

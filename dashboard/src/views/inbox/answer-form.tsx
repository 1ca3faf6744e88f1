import { type ReactNode, useId, useState } from 'react';

/** A JSON Schema as far as the form reads it. */
interface Schema {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

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

/** Fields for an answer of plain values, and JSON for every other one. The server checks the answer. */
export function AnswerForm({ form, isBusy, error, submit, children }: AnswerFormProps): ReactNode {
  const types = Object.keys(form);
  const [type, setType] = useState(types[0] ?? '');
  const schema = (form[type] ?? {}) as Schema;
  const isPlain = Object.values(schema.properties ?? { nothing: {} }).every(isPlainField);
  const [asJson, setAsJson] = useState(false);
  const [value, setValue] = useState<Record<string, unknown>>({});
  const [text, setText] = useState('{}');
  const [complaint, setComplaint] = useState<string>();
  const isJson = asJson || !isPlain;
  const answer = { ...defaultsOf(schema), ...value };

  const send = (): void => {
    const payload = isJson ? parsed(text) : answer;
    setComplaint(payload === undefined ? 'The answer must be a JSON object.' : undefined);
    if (payload !== undefined) submit([{ type, payload }]);
  };
  const switchTo = (json: boolean): void => {
    if (json) setText(JSON.stringify(answer, null, 2));
    else setValue(parsed(text) ?? {});
    setAsJson(json);
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
      <div className="flex flex-wrap items-end justify-between gap-2">
        {types.length > 1 ? (
          <label className="flex flex-col gap-1 text-label text-muted">
            Answer with
            <select value={type} onChange={(event) => setType(event.target.value)} className="control">
              {types.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        ) : (
          <h3 className="text-table font-strong">{type}</h3>
        )}
        {isPlain && (
          <button type="button" className="button" onClick={() => switchTo(!asJson)}>
            {asJson ? 'Use the form' : 'Write JSON'}
          </button>
        )}
      </div>
      {isJson ? (
        <label className="flex flex-col gap-1 text-label text-muted">
          Answer as JSON
          <textarea
            data-answer
            rows={8}
            value={text}
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
            className="control h-auto w-full py-1.5 font-mono"
          />
        </label>
      ) : (
        Object.entries(schema.properties ?? {}).map(([name, field]) => (
          <Field
            key={name}
            name={name}
            schema={field}
            isRequired={schema.required?.includes(name) ?? false}
            value={answer[name]}
            onChange={(next) => setValue({ ...value, [name]: next })}
          />
        ))
      )}
      {(complaint !== undefined || error) && (
        <p role="alert" className="text-table text-failed">
          {complaint ?? error?.message}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button-main" disabled={isBusy}>
          Complete
        </button>
        {children}
      </div>
    </form>
  );
}

const PLAIN_TYPES = ['boolean', 'string', 'number', 'integer'];

const isPlainField = ({ type = '', enum: values }: Schema): boolean =>
  values?.every((value) => typeof value === 'string') ?? PLAIN_TYPES.includes(type);

const defaultsOf = ({ properties = {} }: Schema): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );

/** Returns undefined for anything but a JSON object. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

interface FieldProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  value: unknown;
  /** `undefined` leaves the field out of the answer. */
  onChange: (value: unknown) => void;
}

function Field({ name, schema, isRequired, value, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { title = name, description, type, enum: values } = schema;
  const choices = values?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : undefined);
  const hint = description === undefined ? undefined : `${id}-hint`;
  const label = (
    <>
      {title}
      {!isRequired && <span className="text-muted"> (optional)</span>}
    </>
  );
  if (choices !== undefined) {
    const of = (choice: string): unknown => (type === 'boolean' ? choice === 'true' : choice);
    return (
      <fieldset className="flex flex-col gap-1 text-table" aria-describedby={hint}>
        <legend className="pb-1">{label}</legend>
        <div className="flex flex-wrap gap-2">
          {choices.map((choice) => (
            <label key={choice} className="button has-checked:border-accent has-checked:bg-selected">
              <input
                data-answer
                type="radio"
                name={id}
                required={isRequired}
                checked={value === of(choice)}
                onChange={() => onChange(of(choice))}
                className="accent-accent"
              />
              {type === 'boolean' ? { true: 'Yes', false: 'No' }[choice] : choice}
            </label>
          ))}
        </div>
        <Hint id={hint} text={description} />
      </fieldset>
    );
  }
  const shared = { id, 'data-answer': true, required: isRequired, 'aria-describedby': hint };
  return (
    <div className="flex flex-col gap-1 text-table">
      <label htmlFor={id}>{label}</label>
      {type === 'string' ? (
        <textarea
          {...shared}
          rows={(schema.maxLength ?? 1_000) <= 100 ? 1 : 3}
          maxLength={schema.maxLength}
          value={(value as string | undefined) ?? ''}
          onChange={({ target }) => onChange(target.value === '' && !isRequired ? undefined : target.value)}
          className="control h-auto w-full py-1.5"
        />
      ) : (
        <input
          {...shared}
          type="number"
          step={type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          value={(value as number | undefined) ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
          className="control w-44"
        />
      )}
      <Hint id={hint} text={description} />
    </div>
  );
}

function Hint({ id, text }: { id: string | undefined; text: string | undefined }): ReactNode {
  return (
    text !== undefined && (
      <p id={id} className="text-label text-muted">
        {text}
      </p>
    )
  );
}

import { type KeyboardEvent, type ReactNode, useId } from 'react';

export interface JsonFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onBlur?: () => void;
  /** Called for Ctrl+Enter. */
  onSubmit?: () => void;
  /** Buttons beside the label. */
  actions?: ReactNode;
  rows?: number;
  /** Says what is wrong with the text. Without it, the text must be a JSON object. */
  faultOf?: (text: string) => string | undefined;
}

/** An editor of JSON. What is wrong with the text is said below it. */
export function JsonField({
  label,
  value,
  onChange,
  onBlur,
  onSubmit,
  actions,
  rows = 12,
  faultOf = (text) => parseObject(text).fault,
}: JsonFieldProps): ReactNode {
  const id = useId();
  const fault = faultOf(value);
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <div className="flex flex-col gap-1">
      <div className="flex min-h-6 flex-wrap items-center justify-between gap-2">
        <label htmlFor={id} className="text-label text-muted">
          {label}
        </label>
        {actions}
      </div>
      <textarea
        id={id}
        value={value}
        rows={rows}
        spellCheck={false}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
        onKeyDown={keyDown}
        className="w-full resize-y rounded-md border border-line-strong bg-surface p-2 font-mono text-table text-text"
      />
      <p id={`${id}-fault`} className="min-h-4 text-label text-failed">
        {fault}
      </p>
    </div>
  );
}

export type ParsedObject =
  { object: Record<string, unknown>; fault?: undefined } | { object?: undefined; fault: string };

/** Reads a JSON object, or says why the text is not one. */
export function parseObject(text: string): ParsedObject {
  const { value, fault } = parseJson(text);
  if (fault !== undefined) return { fault };
  return isObject(value) ? { object: value } : { fault: 'Write a JSON object, such as {"text": "hello"}.' };
}

export type ParsedList = { list: Record<string, unknown>[]; fault?: undefined } | { list?: undefined; fault: string };

/** Reads a JSON list of objects, or says why the text is not one. */
export function parseList(text: string): ParsedList {
  const { value, fault } = parseJson(text);
  if (fault !== undefined) return { fault };
  if (!Array.isArray(value) || value.length === 0)
    return { fault: 'Write a list of objects, such as [{"text": "hello"}].' };
  const wrong = value.findIndex((item) => !isObject(item));
  return wrong < 0 ? { list: value as Record<string, unknown>[] } : { fault: `Item ${wrong} is not an object.` };
}

function parseJson(text: string): { value?: unknown; fault?: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

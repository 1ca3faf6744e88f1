import { Children, type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';

import { Icon } from './icon';
import { useWidth } from './use-width';

interface FieldProps {
  label: string;
}

export interface TextFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'search' | 'number' | 'datetime-local';
  /** Shown on hover. */
  hint?: string;
}

/** A filter of one text, which is applied with Enter or when the field is left. */
export function TextField({ label, value, onChange, placeholder, type = 'text', hint }: TextFieldProps): ReactNode {
  const [draft, setDraft] = useState(value);
  const [applied, setApplied] = useState(value);
  // An effect would come after the field is drawn, and could replace what was typed meanwhile.
  if (applied !== value) {
    setApplied(value);
    setDraft(value);
  }
  const apply = (): void => {
    if (draft.trim() !== value) onChange(draft.trim());
  };
  return (
    <label className="flex flex-col gap-1 text-label text-muted">
      {label}
      <input
        type={type}
        value={draft}
        placeholder={placeholder}
        title={hint}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={apply}
        onKeyDown={(event) => event.key === 'Enter' && apply()}
        className="control w-44"
      />
    </label>
  );
}

/** A filter of one time. */
export const TimeField = (props: Pick<TextFieldProps, 'label' | 'value' | 'onChange'>): ReactNode => (
  <TextField
    {...props}
    placeholder="2026-11-23"
    hint="A day, or a time such as 2026-11-23T09:00Z; without a zone in UTC"
  />
);

export interface ChoiceFieldProps<T extends string> extends FieldProps {
  value: T;
  choices: readonly { value: T; text: string }[];
  onChange: (value: T) => void;
}

export function ChoiceField<T extends string>({ label, value, choices, onChange }: ChoiceFieldProps<T>): ReactNode {
  return (
    <label className="flex min-w-0 flex-col gap-1 text-label text-muted">
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value as T)} className="control max-w-full">
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface ListFieldProps extends FieldProps {
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** Values to choose from; others can be typed. */
  suggestions?: readonly string[];
  /** Shown while the list is empty. */
  placeholder?: string;
}

/** A filter of several texts: each is added with Enter or from the suggestions, and removed with a button. */
export function ListField({
  label,
  values,
  onChange,
  suggestions = [],
  placeholder = 'any',
}: ListFieldProps): ReactNode {
  const [draft, setDraft] = useState('');
  const suggestionsId = useId();
  const add = (value: string): void => {
    setDraft('');
    if (value.trim() !== '' && !values.includes(value.trim())) onChange([...values, value.trim()]);
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') add(draft);
    if (event.key === 'Backspace' && draft === '' && values.length > 0) onChange(values.slice(0, -1));
  };
  return (
    <div className="flex flex-col gap-1 text-label text-muted">
      <label htmlFor={`${suggestionsId}-input`}>{label}</label>
      <span className="flex min-h-8 flex-wrap items-center gap-1 rounded-md border border-line-strong bg-surface px-1">
        {values.map((value) => (
          <span key={value} className="inline-flex h-6 items-center rounded-md bg-selected pl-1.5 text-text">
            {value}
            <button
              type="button"
              aria-label={`Remove ${value}`}
              className="inline-flex size-6 items-center justify-center text-muted hover:text-text"
              onClick={() => onChange(values.filter((one) => one !== value))}
            >
              <Icon name="cross" className="size-3" />
            </button>
          </span>
        ))}
        <input
          id={`${suggestionsId}-input`}
          list={suggestionsId}
          value={draft}
          placeholder={values.length === 0 ? placeholder : ''}
          onChange={(event) => {
            const { value } = event.target;
            // A browser reports a chosen suggestion like typing, in one step.
            if (suggestions.includes(value) && value.length - draft.length !== 1) add(value);
            else setDraft(value);
          }}
          onBlur={() => add(draft)}
          onKeyDown={keyDown}
          className="h-7 w-28 min-w-0 flex-1 bg-transparent px-1 text-table text-text placeholder:text-muted"
        />
      </span>
      <datalist id={suggestionsId}>
        {suggestions
          .filter((one) => !values.includes(one))
          .map((one) => (
            <option key={one} value={one} />
          ))}
      </datalist>
    </div>
  );
}

export interface FilterBarProps {
  isAny: boolean;
  clear: () => void;
  children: ReactNode;
}

/** Fields are at least this wide, so that a time fits. */
const NARROWEST_PX = 128;
const GAP_PX = 12;

/** The number of columns in which the rows of fields are as equally long as they can be. */
function columnsFor(fields: number, width: number): number {
  const most = Math.max(1, Math.floor((width + GAP_PX) / (NARROWEST_PX + GAP_PX)));
  return Math.ceil(fields / Math.ceil(fields / most));
}

/** The filters of a list. On narrow screens they are folded. The button that clears them has a separate place. */
export function FilterBar({ isAny, clear, children }: FilterBarProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  const columns = columnsFor(Children.toArray(children).length + 1, useWidth(bar));
  return (
    <div ref={bar} role="search" aria-label="Filters">
      <button type="button" className="button sm:hidden" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'right'} />
        Filters{isAny ? ' (set)' : ''}
      </button>
      <div
        className={`items-end gap-3 *:min-w-0 sm:grid [&_.control]:w-full ${isOpen ? 'mt-2 grid' : 'hidden'}`}
        style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 14rem))` }}
      >
        {children}
        {isAny && (
          <button type="button" className="button justify-self-start" onClick={clear}>
            <Icon name="cross" />
            Clear filters
          </button>
        )}
      </div>
    </div>
  );
}

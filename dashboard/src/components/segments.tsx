import type { ReactNode } from 'react';

export interface SegmentsProps<T extends string> {
  /** The name of the choice for screen readers. */
  label: string;
  value: T;
  choices: readonly { value: T; text: string }[];
  onChange: (value: T) => void;
}

/** A few choices side by side, one of which is pressed. */
export function Segments<T extends string>({ label, value, choices, onChange }: SegmentsProps<T>): ReactNode {
  return (
    <span role="group" aria-label={label} className="flex gap-1">
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className={`h-7 rounded-md px-2 text-table ${choice.value === value ? 'bg-selected font-strong' : 'text-muted hover:bg-raised'}`}
        >
          {choice.text}
        </button>
      ))}
    </span>
  );
}

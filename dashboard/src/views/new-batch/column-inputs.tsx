import { type ReactNode, useId } from 'react';

import { Icon } from '../../components/icon';
import { listText } from '../../formats';

export interface ColumnInputsProps {
  columns: readonly string[];
  /** The input that each column becomes; empty if it is not used. */
  names: Record<string, string>;
  /** The fields of the schema. */
  fields: readonly string[];
  required: readonly string[];
  onChange: (column: string, name: string) => void;
}

/** Says which input each column becomes. */
export function ColumnInputs({ columns, names, fields, required, onChange }: ColumnInputsProps): ReactNode {
  const listId = useId();
  const given = new Set(columns.map((column) => names[column]));
  const missing = required.filter((name) => !given.has(name));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 text-label text-muted">Columns and the inputs that they become</legend>
      <ul className="-m-1 flex max-h-80 flex-col gap-2 overflow-y-auto p-1">
        {columns.map((column, index) => (
          <li key={index} className="grid grid-cols-[minmax(0,1fr)_auto_minmax(0,1fr)] items-center gap-2">
            <span className="truncate font-mono text-table" title={column}>
              {column}
            </span>
            <Icon name="forward" className="text-muted" />
            <input
              aria-label={`Input of column ${column}`}
              list={listId}
              value={names[column] ?? ''}
              placeholder="not used"
              spellCheck={false}
              onChange={(event) => onChange(column, event.target.value)}
              className="control w-full min-w-0 font-mono"
            />
          </li>
        ))}
      </ul>
      <datalist id={listId}>
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
      {missing.length > 0 && (
        <p role="status" className="flex items-center gap-1.5 text-table text-waiting">
          <Icon name="warning" />
          No column becomes {listText(missing)}, which the schema requires.
        </p>
      )}
    </fieldset>
  );
}

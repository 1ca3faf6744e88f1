import type { ReactNode } from 'react';

import { ChoiceField, TextField } from '../../components/fields';
import { JsonField } from '../../components/json-field';
import type { BatchDraft } from '../new-batch';

export interface OptionsProps {
  draft: BatchDraft;
  /** The columns, or the keys of the items. */
  keys: readonly string[];
  staticText: string;
  setStaticText: (text: string) => void;
}

/** The options that most batches leave unchanged. */
export function Options({ draft: { value, set }, keys, staticText, setStaticText }: OptionsProps): ReactNode {
  return (
    <details>
      <summary className="text-table text-muted">Options</summary>
      <div className="mt-3 flex flex-col gap-3">
        <div className="flex flex-wrap items-end gap-3">
          <ChoiceField
            label="Runs"
            value={value.order}
            choices={[
              { value: 'together', text: 'several at a time' },
              { value: 'one by one', text: 'one at a time, in order' },
            ]}
            onChange={(order) => set({ order })}
          />
          {value.order === 'together' && (
            <TextField
              label="At most at a time"
              type="number"
              value={value.workers}
              placeholder="5"
              onChange={(workers) => set({ workers })}
            />
          )}
          <ChoiceField
            label="Rows that run once"
            value={value.row_key}
            choices={[
              { value: '', text: 'each row runs' },
              ...[...new Set([...keys, value.row_key])]
                .filter((key) => key !== '')
                .map((key) => ({ value: key, text: `one for each ${key}` })),
            ]}
            onChange={(row_key) => set({ row_key })}
          />
        </div>
        <JsonField label="Inputs of every run" value={staticText} onChange={setStaticText} rows={3} />
      </div>
    </details>
  );
}

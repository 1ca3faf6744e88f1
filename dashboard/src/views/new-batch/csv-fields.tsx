import type { ReactNode } from 'react';

import { ChoiceField } from '../../components/fields';
import { type Delimiter, DELIMITERS } from './csv-preview';

export interface CsvFieldsProps {
  file: File | undefined;
  chooseFile: (file: File | undefined) => void;
  /** Undefined until the file is read. */
  delimiter: Delimiter | undefined;
  setDelimiter: (delimiter: Delimiter) => void;
}

/** The file, and what separates its cells. A file can also be dropped on the field. */
export function CsvFields({ file, chooseFile, delimiter, setDelimiter }: CsvFieldsProps): ReactNode {
  return (
    <div className="flex flex-wrap items-end gap-3">
      <label className="flex min-w-0 flex-1 basis-72 flex-col gap-1 text-label text-muted">
        CSV file with a header
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
          onChange={({ target: { files } }) => chooseFile(files?.[0])}
          className="w-full cursor-pointer rounded-md border border-dashed border-line-strong bg-surface p-3 text-table text-text file:mr-3 file:h-8 file:cursor-pointer file:rounded-md file:border file:border-line-strong file:bg-raised file:px-3 file:text-table file:text-text"
        />
      </label>
      {file && delimiter !== undefined && (
        <ChoiceField
          label="Delimiter"
          value={delimiter}
          choices={DELIMITERS}
          onChange={(chosen) => setDelimiter(chosen)}
        />
      )}
    </div>
  );
}

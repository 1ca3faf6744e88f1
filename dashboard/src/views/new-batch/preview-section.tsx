import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { Section } from '../../components/section';
import { LoadingRows } from '../../components/states';
import { bytesText } from '../../formats';
import type { CsvPreview } from './csv-preview';

export interface PreviewSectionProps {
  file: File;
  preview: UseQueryResult<CsvPreview>;
  /** The input that each column becomes; empty if it is not used. */
  names: Record<string, string>;
}

/** The first rows of the file, under the inputs that they become. */
export function PreviewSection({ file, preview: { data, error }, names }: PreviewSectionProps): ReactNode {
  const body = (): ReactNode => {
    if (error)
      return (
        <p role="alert" className="p-3 text-table text-failed">
          The beginning of the file cannot be shown: {error.message}
        </p>
      );
    if (data === undefined) return <LoadingRows count={5} />;
    if (data.rows.length === 0) return <p className="p-3 text-table text-muted">The file has no rows.</p>;
    return <Rows preview={data} names={names} />;
  };
  return (
    <Section
      title="First rows"
      actions={<span className="text-label text-muted">{`${file.name}, ${bytesText(file.size)}`}</span>}
    >
      {body()}
    </Section>
  );
}

function Rows({
  preview: { columns, rows },
  names,
}: {
  preview: CsvPreview;
  names: Record<string, string>;
}): ReactNode {
  return (
    <div role="region" aria-label="Preview" tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-table">
        <thead>
          <tr className="border-b border-line text-left">
            {columns.map((column, index) => (
              <th key={index} scope="col" className="px-3 py-2 font-normal whitespace-nowrap">
                <span className="block font-mono text-text">{column}</span>
                <span className="block text-label text-muted">
                  {names[column] ? `becomes ${names[column]}` : 'not used'}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-b border-line align-top last:border-b-0">
              {row.map((cell, place) => (
                <td key={place} className={`px-3 py-2 ${names[columns[place] ?? ''] ? '' : 'text-muted'}`}>
                  <span className="line-clamp-3 min-w-24 whitespace-pre-line">{cell}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

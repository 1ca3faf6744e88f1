import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { CurlButton } from '../../components/copy';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { Failure, LoadingRows } from '../../components/states';
import { countText, numberText } from '../../formats';

const PATH = '/batch/{batch_id}/failures';

const EVERY_MS = 10_000;

/** Why items failed, the most frequent reason first. */
export function FailureGroups({ id, isOpen }: { id: string; isOpen: boolean }): ReactNode {
  const params = { path: { batch_id: id } };
  const { data, error, refetch } = useApi(PATH, params, {
    live: (event) => event.event_type === 'batch_progress' && event.batch_id === id && event.status !== 'running',
    pollMs: isOpen ? EVERY_MS : undefined,
  });
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (data === undefined) return <LoadingRows count={2} />;
    return (
      <div className="max-h-80 overflow-y-auto" role="group" aria-label="Reasons" tabIndex={0}>
        <table className="w-full text-table">
          <thead className="sr-only">
            <tr>
              <th scope="col">Items</th>
              <th scope="col">Error</th>
              <th scope="col">First row</th>
            </tr>
          </thead>
          <tbody>
            {data.groups.map(({ message, items, first_index, first_run_id }) => (
              <tr key={message} className="border-b border-line align-top last:border-b-0">
                <td className="w-px px-3 py-2 text-right font-strong text-failed">{numberText(items)}</td>
                <td className="py-2">{message || 'without a message'}</td>
                <td className="w-px px-3 py-2 text-right whitespace-nowrap">
                  <Place to="/correlations/$id" params={{ id: first_run_id }}>
                    row {numberText(first_index)}
                  </Place>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {data.other_items > 0 && (
          <p className="border-t border-line px-3 py-2 text-table text-muted">
            {countText(data.other_items, 'further item')} failed for other reasons.
          </p>
        )}
      </div>
    );
  };
  return (
    <Section title="Why items failed" actions={<CurlButton request={{ path: PATH, params }} />}>
      {body()}
    </Section>
  );
}

import { type ReactNode, useState } from 'react';

import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { CurlButton, IdChip } from '../../components/copy';
import { FailureLine, LoadingRows } from '../../components/states';
import { Ago } from '../../components/time';
import { countedText, isByKey, type Limit, MOST_WAITING_FOR_KEY, usedUnitsText } from './limit-text';

type Key = Schemas['LimitKeyBody'];

const PATH = '/api/v1/limits/{limit_name}/keys';

const EVERY_MS = 3_000;
const ON_PAGE = 50;

/** The keys of a limit for which executions wait, page by page. */
export function KeyList({ limit }: { limit: Limit }): ReactNode {
  const [after, setAfter] = useState<string>();
  const params = { path: { limit_name: limit.name }, query: { limit: ON_PAGE, after } };
  const { data, error, refetch } = useApi(PATH, params, { pollMs: EVERY_MS });
  const next = data?.pagination.next ?? null;
  const body = (): ReactNode => {
    if (data === undefined)
      return error ? <FailureLine error={error} retry={() => void refetch()} /> : <LoadingRows count={3} />;
    if (data.items.length === 0 && after === undefined)
      return <p className="text-table text-muted">No execution waits for it.</p>;
    return (
      <>
        <ul aria-label="Waiting" className="flex flex-col">
          {data.items.map((item) => (
            <WaitingKey key={item.key} item={item} limit={limit} />
          ))}
        </ul>
        <div className="flex flex-wrap gap-2 pt-2">
          {after !== undefined && (
            <button type="button" className="button" onClick={() => setAfter(undefined)}>
              First keys
            </button>
          )}
          {next !== null && (
            <button type="button" className="button" onClick={() => setAfter(next)}>
              Next keys
            </button>
          )}
        </div>
      </>
    );
  };
  return (
    <section>
      <div className="flex flex-wrap items-center justify-between gap-2 pb-1">
        <h3 className="text-label text-muted">{isByKey(limit) ? 'Waiting, by key' : 'Waiting'}</h3>
        <CurlButton request={{ path: PATH, params }} />
      </div>
      {body()}
    </section>
  );
}

function WaitingKey({ item, limit: { concurrency, burst } }: { item: Key; limit: Limit }): ReactNode {
  const { key, running, units_used, waiting, longest, room_at } = item;
  const units = usedUnitsText({ units_used, burst });
  return (
    <li className="flex flex-col gap-x-3 border-b border-line py-1 text-table last:border-b-0">
      <span className="flex flex-wrap items-baseline gap-x-3">
        {key !== null && (
          <code title={key} className="max-w-full truncate font-mono text-label">
            {key}
          </code>
        )}
        <span>{concurrency === null ? `${running} running` : `${running} of ${concurrency} used`}</span>
        {units !== null && <span>{units} of the burst used</span>}
        <span className="text-waiting">{countedText(waiting, MOST_WAITING_FOR_KEY)} waiting</span>
        {room_at !== null && (
          <span className="text-muted">
            next <Ago at={room_at} />
          </span>
        )}
      </span>
      {longest !== null && (
        <span className="flex flex-wrap items-baseline gap-x-3 text-muted">
          <span>
            longest: {longest.agent}, <Ago at={longest.queued_at} />
          </span>
          <IdChip
            id={longest.correlation_id}
            what="correlation"
            to={{ to: '/correlations/$id', params: { id: longest.correlation_id } }}
          />
        </span>
      )}
    </li>
  );
}

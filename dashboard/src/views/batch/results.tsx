import { type ReactNode, useRef } from 'react';

import { usePages } from '../../api/queries';
import { type GetQuery, type Schemas, urlOf } from '../../api/requests';
import { choice, useFilters } from '../../app/filters';
import { IdChip } from '../../components/copy';
import { ChoiceField } from '../../components/fields';
import { Icon } from '../../components/icon';
import { JsonLine } from '../../components/json-line';
import { StateBadge } from '../../components/state-badge';
import { Empty } from '../../components/states';
import { Duration } from '../../components/time';
import { useNews } from '../../components/use-news';
import { type Column, VirtualList } from '../../components/virtual-list';
import { numberText } from '../../formats';
import { BATCH_PATH } from './batch';

type Item = Schemas['BatchItemBody'];

const PAGE_ITEMS = 100;

const STATES = ['', 'completed', 'failed'] as const;

/** The items that have ended, in the order of the input. */
export function Results({ id }: { id: string }): ReactNode {
  const { value, set } = useFilters({ results: choice(...STATES) });
  const query: GetQuery<typeof BATCH_PATH> = { results_limit: PAGE_ITEMS, results_status: value.results || undefined };
  const pages = usePages(
    BATCH_PATH,
    { path: { batch_id: id }, query },
    {
      rows: ({ results }) => results,
      next: ({ results }, read) =>
        results.length < PAGE_ITEMS ? undefined : { results_offset: read.length * PAGE_ITEMS },
    },
  );
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({
    isNew: (event) => (event.event_type === 'batch_progress' && event.batch_id === id ? undefined : false),
    restart: pages.restart,
    within: section,
  });
  return (
    <section className="flex flex-1 flex-col gap-2" aria-labelledby="results-title">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <h2 id="results-title" className="text-body font-strong">
          Results
        </h2>
        <div className="flex flex-wrap items-end gap-2">
          <ChoiceField
            label="Shown"
            value={value.results}
            choices={STATES.map((state) => ({ value: state, text: state || 'all' }))}
            onChange={(results) => set({ results })}
          />
          <Download id={id} format="csv" text="CSV" />
          <Download id={id} format="ndjson" text="JSON lines" />
        </div>
      </div>
      <div ref={section} className="flex min-h-80 flex-1 flex-col">
        <VirtualList
          label="Results"
          columns={COLUMNS}
          pages={pages}
          keyOf={({ index }) => String(index)}
          news={news}
          empty={
            <Empty icon="batch" title={value.results === '' ? 'No item has ended yet' : `No item has ${value.results}`}>
              Results appear here in the order of the input.
            </Empty>
          }
        />
      </div>
    </section>
  );
}

/** All results as a file, which the browser writes as it comes. */
function Download({ id, format, text }: { id: string; format: 'csv' | 'ndjson'; text: string }): ReactNode {
  const url = urlOf({ path: `${BATCH_PATH}/results`, params: { path: { batch_id: id }, query: { format } } });
  return (
    <a href={url} download={`${id}.${format}`} aria-label={`Download results as ${text}`} className="button">
      <Icon name="download" />
      {text}
    </a>
  );
}

const COLUMNS: Column<Item>[] = [
  { id: 'index', title: 'Row', width: '72px', align: 'end', render: ({ index }) => numberText(index) },
  { id: 'state', title: 'State', width: '120px', render: ({ status }) => <StateBadge state={status} /> },
  {
    id: 'result',
    title: 'Result',
    width: 'minmax(0, 1fr)',
    render: ({ result, error }) =>
      error === undefined ? (
        <JsonLine value={result} />
      ) : (
        <span className="text-failed" title={error}>
          {error}
        </span>
      ),
  },
  {
    id: 'duration',
    title: 'Duration',
    width: '96px',
    from: 560,
    align: 'end',
    render: ({ started_at, completed_at }) =>
      started_at !== undefined && completed_at !== undefined ? (
        <Duration from={started_at} to={completed_at} />
      ) : (
        <span className="text-muted">–</span>
      ),
  },
  {
    id: 'run',
    title: 'Run',
    width: '164px',
    from: 760,
    render: ({ run_id: id }) => <IdChip id={id} what="run" to={{ to: '/correlations/$id', params: { id } }} />,
  },
];

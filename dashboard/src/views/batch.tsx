import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';

import { answered, api } from '../api/client';
import { useApi, usePages } from '../api/queries';
import { type GetQuery, type Schemas, urlOf } from '../api/requests';
import { choice, useFilters } from '../app/filters';
import { announce } from '../components/announcer';
import { CurlButton, IdChip } from '../components/copy';
import { Confirm } from '../components/dialog';
import { Facts } from '../components/facts';
import { ChoiceField } from '../components/fields';
import { Icon } from '../components/icon';
import { JsonLine } from '../components/json-line';
import { Page } from '../components/page';
import { Progress } from '../components/progress';
import { StateBadge } from '../components/state-badge';
import { Empty, Failure, LoadingRows } from '../components/states';
import { Duration, Time } from '../components/time';
import { useNews } from '../components/use-news';
import { useNow } from '../components/use-now';
import { type Column, VirtualList } from '../components/virtual-list';
import { countText, durationText, numberText } from '../formats';

type Batch = Schemas['BatchBody'];
type Item = Schemas['BatchItemBody'];

const PATH = '/batch/{batch_id}';
const PAGE_ITEMS = 100;

const STATES = ['', 'completed', 'failed'] as const;

export default function OneBatch(): ReactNode {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const path = { batch_id: id };
  const { data, error, refetch } = useApi(
    PATH,
    { path, query: { results_limit: 0 } },
    { live: (event) => event.event_type === 'batch_progress' && event.batch_id === id },
  );
  const batch = data?.batch_id === id ? data : undefined;
  const body = (): ReactNode => {
    if (batch !== undefined) return <BatchDetails batch={batch} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows />;
  };
  return (
    <Page
      title="Batch"
      about={<IdChip id={id} what="batch" />}
      actions={
        <>
          {batch && <Actions batch={batch} />}
          <a href={urlOf({ path: `${PATH}/results`, params: { path } })} download={`${id}.ndjson`} className="button">
            <Icon name="down" />
            Download results
          </a>
          <CurlButton request={{ path: PATH, params: { path } }} />
        </>
      }
    >
      {body()}
    </Page>
  );
}

const isOpen = ({ status }: Batch): boolean => status === 'starting' || status === 'running';

function BatchDetails({ batch }: { batch: Batch }): ReactNode {
  const { batch_id, status, completed_items: ended, failed_items: failed, total_items: total } = batch;
  const { started_at, completed_at, waiting_for_agents: lacking = [], usage } = batch;
  return (
    <>
      <div className="card flex flex-col gap-3 p-4">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-table">
          <StateBadge state={status} />
          <span className="tabular-nums">
            {numberText(ended)} of {countText(total, 'item')}
          </span>
          {failed > 0 && <span className="text-failed">{numberText(failed)} failed</span>}
        </div>
        <Progress label="Progress" {...{ ended, failed, total }} />
        <Facts
          facts={[
            ['Started', started_at === undefined ? null : <Time at={started_at} />],
            ['Duration', started_at === undefined ? null : <Duration from={started_at} to={completed_at} />],
            ['Rate', isOpen(batch) && started_at !== undefined ? <Rate batch={batch} startedAt={started_at} /> : null],
            ['Waits for', lacking.length > 0 ? `a process that has ${lacking.join(', ')}` : null],
            ['Error', batch.error ?? null],
            ['Tokens', usage ? countText(usage.input_tokens + usage.output_tokens, 'token') : null],
            ['Cost', usage?.cost === undefined ? null : usage.cost.toFixed(4)],
          ]}
        />
      </div>
      <Results key={batch_id} batch={batch} />
    </>
  );
}

/** How many items end in a second, and when the rest will have ended at that rate. */
function Rate({ batch, startedAt }: { batch: Batch; startedAt: string }): ReactNode {
  const seconds = Math.max(1, (useNow() - Date.parse(startedAt)) / 1_000);
  const ended = batch.completed_items;
  if (ended === 0) return 'no item has ended yet';
  const left = ((batch.total_items - ended) / ended) * seconds * 1_000;
  return `${(ended / seconds).toFixed(1)} items per second, about ${durationText(left)} left`;
}

function Results({ batch }: { batch: Batch }): ReactNode {
  const { value, set } = useFilters({ results: choice(...STATES) });
  const query: GetQuery<typeof PATH> = { results_limit: PAGE_ITEMS, results_status: value.results || undefined };
  const pages = usePages(
    PATH,
    { path: { batch_id: batch.batch_id }, query },
    {
      rows: ({ results }) => results,
      next: ({ results }, read) =>
        results.length < PAGE_ITEMS ? undefined : { results_offset: read.length * PAGE_ITEMS },
    },
  );
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({
    isNew: (event) => (event.event_type === 'batch_progress' && event.batch_id === batch.batch_id ? undefined : false),
    restart: pages.restart,
    within: section,
  });
  return (
    <section className="flex flex-1 flex-col gap-2" aria-labelledby="results-title">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <h2 id="results-title" className="text-body font-strong">
          Results
        </h2>
        <ChoiceField
          label="Shown"
          value={value.results}
          choices={STATES.map((state) => ({ value: state, text: state || 'all' }))}
          onChange={(results) => set({ results })}
        />
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
  { id: 'run', title: 'Run', width: '164px', from: 760, render: ({ run_id: id }) => <IdChip id={id} what="run" /> },
];

function Actions({ batch }: { batch: Batch }): ReactNode {
  const { batch_id, failed_items: failed, total_items: total, completed_items: ended } = batch;
  if (isOpen(batch))
    return (
      <Action
        batchId={batch_id}
        path={`${PATH}/cancel`}
        icon="slash"
        text="Cancel"
        title="Cancel this batch?"
        action={`Cancel ${countText(total - ended, 'item')}`}
        done="Cancelled"
      >
        What has ended keeps its results. {countText(total - ended, 'item')} will not run.
      </Action>
    );
  if (failed === 0) return null;
  return (
    <Action
      batchId={batch_id}
      path={`${PATH}/retry-failed`}
      icon="again"
      text="Retry failed"
      title="Retry the failed items?"
      action={`Retry ${countText(failed, 'item')}`}
      done="The failed items run again"
    >
      {countText(failed, 'failed item')} will run again with the same input. The others do not change.
    </Action>
  );
}

interface ActionProps {
  batchId: string;
  path: `${typeof PATH}/cancel` | `${typeof PATH}/retry-failed`;
  icon: 'slash' | 'again';
  text: string;
  title: string;
  action: string;
  done: string;
  children: ReactNode;
}

function Action({ batchId, path, icon, text, title, action, done, children }: ActionProps): ReactNode {
  const [isAsking, setIsAsking] = useState(false);
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => answered(api.POST(path, { params: { path: { batch_id: batchId } } })),
    onSuccess: () => {
      setIsAsking(false);
      announce(done);
    },
    onSettled: () => client.invalidateQueries({ queryKey: [PATH] }),
  });
  return (
    <>
      <button
        type="button"
        className="button"
        onClick={() => {
          change.reset();
          setIsAsking(true);
        }}
      >
        <Icon name={icon} />
        {text}
      </button>
      <Confirm
        title={title}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        action={action}
        onConfirm={() => change.mutateAsync().catch(() => undefined)}
        isBusy={change.isPending}
        error={change.error}
      >
        {children}
      </Confirm>
    </>
  );
}

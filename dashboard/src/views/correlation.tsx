import { useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo } from 'react';

import { hasPages, type Pages, useApi, usePages } from '../api/queries';
import type { Answer } from '../api/requests';
import { choice, text, useFilters } from '../app/filters';
import { CopyButton, CurlButton, IdChip } from '../components/copy';
import { JsonLine } from '../components/json-line';
import { OperationProgress } from '../components/operation-progress';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { Segments } from '../components/segments';
import { StateBadge } from '../components/state-badge';
import { Empty, Failure, LoadingRows } from '../components/states';
import { Ago, Duration, Time } from '../components/time';
import { useNow } from '../components/use-now';
import { useRepeated } from '../components/use-repeated';
import { costText, countText, numberText } from '../formats';
import type { LiveEvent } from '../live/messages';
import { useLiveEvents, useLiveRefresh } from '../live/use-live';
import { Actions } from './correlation/actions';
import { ChangedPages } from './correlation/changed-pages';
import { ExecutionDetails } from './correlation/execution-details';
import { GraphOfTrace } from './correlation/graph-of-trace';
import { mayRetry } from './correlation/may-retry';
import { rowsOf, type TracedExecution } from './correlation/rows';
import { Timeline } from './correlation/timeline';
import { artifactsOf, executionOf } from './correlation/trace-graph';
import { Waits } from './correlation/waits';

const TRACE = '/api/v1/correlations/{correlation_id}/trace';
const STATUS = '/api/v1/correlations/{correlation_id}/status';

const SHOWN = ['timeline', 'graph', 'both', 'table'] as const;

/** How often a replay is read again, because the live connection leaves replays out. */
const ACTIVE_REPLAY_MS = 2_000;
const ENDED_REPLAY_MS = 10_000;

const READERS = { selected: text, show: choice(...SHOWN), operation: text };

type Trace = Answer<typeof TRACE>;

export default function Correlation(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const path = { correlation_id: id };
  const concerns = (event: LiveEvent): boolean => 'correlation_id' in event && event.correlation_id === id;
  const { value, set } = useFilters(READERS);
  const status = useApi(STATUS, { path }, { live: concerns });
  const changed = useMemo(() => new ChangedPages(id, hasPages(TRACE, { path: { correlation_id: id } })), [id]);
  const pages = usePages(
    TRACE,
    { path },
    {
      rows: ({ executions }) => executions,
      next: ({ truncated, artifacts }) => (truncated ? { after: artifacts.at(-1)?.id } : undefined),
      isKept: changed.isKept,
    },
  );
  const refresh = (): Promise<void> => changed.refresh(pages.refresh);
  useLiveEvents((events, resync) => {
    events.filter(changed.concerns).forEach((event) => changed.happened(event));
    if (!resync) return;
    changed.missed();
    void refresh();
  });
  useLiveRefresh(refresh, changed.concerns);
  useEffect(() => changed.wereRead(pages.pages), [changed, pages.pages]);
  useEffect(() => {
    if (pages.hasMore) pages.loadMore();
  });
  const trace = pages.pages.at(-1);
  const { origin, origin_kind } = status.data ?? {};
  useRepeated(
    () => {
      changed.missed();
      void refresh();
      void status.refetch();
    },
    origin === undefined ? undefined : trace?.state === 'active' ? ACTIVE_REPLAY_MS : ENDED_REPLAY_MS,
  );
  return (
    <Page
      title={<Title id={id} state={trace?.state} />}
      about={trace ? <About trace={trace} status={status.data} /> : 'What happened, and what it waits for'}
      actions={
        <>
          <Segments
            label="Show"
            value={value.show}
            choices={[
              { value: 'timeline', text: 'Timeline' },
              { value: 'graph', text: 'Graph' },
              { value: 'both', text: 'Both' },
              { value: 'table', text: 'Table' },
            ]}
            onChange={(show) => set({ show })}
          />
          {trace && (
            <Actions
              id={id}
              state={trace.state}
              isReplay={origin !== undefined}
              original={origin_kind === 'correlation' ? origin : undefined}
              hasFailed={pages.rows.some((one) => one.correlation_id === id && mayRetry(one, trace.replay_mode))}
              onOperation={(operation) => set({ operation })}
            />
          )}
          <CurlButton request={{ path: TRACE, params: { path } }} />
        </>
      }
    >
      {value.operation !== '' && (
        <OperationProgress key={value.operation} id={value.operation} close={() => set({ operation: '' })} />
      )}
      <Body id={id} trace={trace} pages={pages} {...value} select={(selected) => set({ selected })} />
    </Page>
  );
}

function Title({ id, state }: { id: string; state: string | undefined }): ReactNode {
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <span className="font-mono text-body font-strong">{id}</span>
      <CopyButton text={() => id} label="Copy correlation id" />
      {state !== undefined && <StateBadge state={state} />}
    </span>
  );
}

interface AboutProps {
  trace: Trace;
  status: Answer<typeof STATUS> | undefined;
}

function About({ trace, status }: AboutProps): ReactNode {
  const { started_at, settled_at, artifact_count, error_count, generation } = trace;
  const { usage, origin, origin_kind, replay_mode, configuration, overrides } = status ?? {};
  const facts = [
    origin !== undefined &&
      (origin_kind === 'experiment' ? (
        <>
          a trial of the experiment{' '}
          <IdChip id={origin} what="experiment" to={{ to: '/experiments/$id', params: { id: origin } }} />
        </>
      ) : (
        <>
          {replay_mode} replay of{' '}
          <IdChip id={origin} what="correlation" to={{ to: '/correlations/$id', params: { id: origin } }} />
        </>
      )),
    configuration !== undefined && `agents of the configuration ${configuration}`,
    overrides && `with changes of ${Object.keys(overrides).join(', ')}`,
    <>
      began <Ago at={started_at} />
    </>,
    settled_at === null ? (
      <>
        for <Duration from={started_at} />
      </>
    ) : (
      <>
        took <Duration from={started_at} to={settled_at} />
      </>
    ),
    countText(artifact_count, 'artifact'),
    error_count > 0 && <span className="text-failed">{countText(error_count, 'error')}</span>,
    generation > 1 && `generation ${generation}`,
    usage && `${numberText(usage.input_tokens + usage.output_tokens)} tokens`,
    usage?.cost !== undefined && `cost ${costText(usage.cost)}`,
  ].filter(Boolean);
  return (
    <ul className="flex flex-wrap gap-x-4">
      {facts.map((fact, index) => (
        <li key={index}>{fact}</li>
      ))}
    </ul>
  );
}

interface BodyProps {
  id: string;
  /** The page that was read last. Each has the facts of the whole correlation. */
  trace: Trace | undefined;
  pages: Pages<typeof TRACE, TracedExecution>;
  selected: string;
  show: (typeof SHOWN)[number];
  select: (id: string) => void;
}

/** Timeline and graph are beside each other where both have room. */
const PART = 'flex min-w-0 grow basis-140 flex-col gap-2';

function Body({ id, trace, pages, selected, show, select }: BodyProps): ReactNode {
  const now = useNow();
  const { error, pages: read } = pages;
  const timeline = useMemo(() => rowsOf(read), [read]);
  const artifacts = useMemo(() => artifactsOf(read), [read]);
  if (error && !trace) return <Failure error={error} retry={() => void pages.refresh()} />;
  if (!trace) return <LoadingRows />;
  if (timeline.length === 0)
    return <Empty icon="correlation" title="Everything of this correlation was deleted after its retention time" />;
  const row = timeline.find((one) => one.id === selected);
  return (
    <div className="flex flex-1 flex-col gap-4 xl:min-h-0 xl:flex-row">
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        {trace.state === 'active' && <Waits id={id} />}
        <div className="flex flex-1 flex-wrap gap-3">
          {(show === 'timeline' || show === 'both') && (
            <div className={PART}>
              <Timeline rows={timeline} now={now} selected={executionOf(selected, artifacts)} select={select} />
            </div>
          )}
          {show !== 'timeline' && (
            <div className={PART}>
              <GraphOfTrace
                as={show === 'table' ? 'table' : 'graph'}
                rows={timeline}
                artifacts={artifacts}
                selected={selected}
                select={select}
              />
            </div>
          )}
        </div>
        {pages.hasMore && (
          <p className="text-label text-muted">
            Reading {numberText(trace.artifact_count)} artifacts; {countText(timeline.length, 'row')} so far.
          </p>
        )}
      </div>
      <aside aria-label="Selection" className="card shrink-0 overflow-auto xl:w-96">
        {artifacts.has(selected) ? (
          <Published id={selected} />
        ) : row?.kind === 'execution' ? (
          <Selection execution={row.execution} trace={trace} />
        ) : (
          <p className="p-4 text-table text-muted">
            Select a row or a node to see its attempts, its inputs and what it published.
          </p>
        )}
      </aside>
    </div>
  );
}

interface SelectionProps {
  execution: TracedExecution;
  trace: Trace;
}

function Selection({ execution, trace }: SelectionProps): ReactNode {
  return (
    <>
      {execution.correlation_id !== trace.correlation_id && (
        <p className="px-3 pt-3 text-table text-muted">
          Of the correlation{' '}
          <IdChip
            id={execution.correlation_id}
            what="correlation"
            to={{ to: '/correlations/$id', params: { id: execution.correlation_id } }}
          />
        </p>
      )}
      <ExecutionDetails id={execution.id} replayMode={trace.replay_mode} />
    </>
  );
}

/** An artifact with its payload. */
function Published({ id }: { id: string }): ReactNode {
  const { data, error } = useApi('/api/v1/artifacts/{artifact_id}', { path: { artifact_id: id } });
  if (error) return <Failure error={error} />;
  if (data === undefined || data.id !== id) return <LoadingRows count={4} />;
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-strong">
          <Place to="/artifacts/$id" params={{ id }}>
            {data.type}
          </Place>
        </h2>
        <IdChip id={id} what="artifact" />
      </div>
      <p className="text-table text-muted">
        Published by {data.produced_by === 'external' ? 'a client' : data.produced_by}, <Time at={data.created_at} />
      </p>
      <p className="rounded-md bg-raised p-2">
        <JsonLine value={data.payload} />
      </p>
    </div>
  );
}

import type { ReactNode } from 'react';

import { nextByOffset, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, useFilters } from '../app/filters';
import { StateField } from '../components/choice-filters';
import { CurlButton } from '../components/copy';
import { FilterBar } from '../components/fields';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { Progress } from '../components/progress';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useRepeated } from '../components/use-repeated';
import { type Column, VirtualList } from '../components/virtual-list';
import { listText, numberText, shortId } from '../formats';

type Experiment = Schemas['ListedExperimentBody'];

const PATH = '/api/v1/experiments';

const STATES = ['', 'running', 'completed', 'failed', 'cancelled'] as const;

/** The live connection has no events of experiments. */
const RUNNING_MS = 2_000;
const ENDED_MS = 10_000;

export default function Experiments(): ReactNode {
  const { value, set, clear, isAny } = useFilters({ state: choice(...STATES) });
  const query: GetQuery<typeof PATH> = { state: value.state || undefined, limit: 100 };
  const pages = usePages(PATH, { query }, { rows: ({ items }) => items, next: nextByOffset });
  const isRunning = pages.rows.some(({ state }) => state === 'running');
  useRepeated(() => void pages.refresh(), isRunning ? RUNNING_MS : ENDED_MS);
  return (
    <Page
      title="Experiments"
      about="Variants of agents on the same rows, the newest first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <FilterBar isAny={isAny} clear={clear}>
        <StateField value={value.state} states={STATES} onChange={(state) => set({ state })} />
      </FilterBar>
      <VirtualList
        label="Experiments"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ experiment_id }) => experiment_id}
        empty={
          isAny ? (
            <NoMatch icon="experiment" of="experiment" clear={clear} />
          ) : (
            <Empty icon="experiment" title="No experiment has been started yet">
              Start one with <code className="font-mono">starling experiment run file.yaml</code>, or send{' '}
              <code className="font-mono">POST /api/v1/experiments</code>.
            </Empty>
          )
        }
      />
    </Page>
  );
}

const COLUMNS: Column<Experiment>[] = [
  {
    id: 'name',
    title: 'Experiment',
    width: 'minmax(120px, 1.5fr)',
    render: ({ experiment_id: id, name }) => (
      <Place to="/experiments/$id" params={{ id }}>
        {name ?? <span className="font-mono text-label">{shortId(id)}</span>}
      </Place>
    ),
  },
  { id: 'state', title: 'State', width: '120px', render: ({ state }) => <StateBadge state={state} /> },
  {
    id: 'variants',
    title: 'Variants',
    width: 'minmax(96px, 1.5fr)',
    from: 760,
    render: ({ variants }) => listText(variants),
  },
  {
    id: 'progress',
    title: 'Progress',
    width: 'minmax(120px, 2fr)',
    from: 640,
    render: ({ experiment_id, name, ended_trials: ended, failed_trials: failed, total_trials: total }) => (
      <Progress label={`Progress of ${name ?? shortId(experiment_id)}`} {...{ ended, failed, total }} />
    ),
  },
  {
    id: 'trials',
    title: 'Trials',
    width: '136px',
    from: 560,
    align: 'end',
    render: ({ ended_trials, total_trials }) => `${numberText(ended_trials)} / ${numberText(total_trials)}`,
  },
  {
    id: 'rows',
    title: 'Rows',
    width: '80px',
    from: 860,
    align: 'end',
    render: ({ rows }) => numberText(rows),
  },
  {
    id: 'created',
    title: 'Created',
    width: '96px',
    from: 340,
    align: 'end',
    render: ({ created_at: at }) => <Ago at={at} />,
  },
];

import { type ReactNode, useEffect, useRef } from 'react';

import { nextByCursor, usePages } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { CurlButton } from '../../components/copy';
import { ChoiceField } from '../../components/fields';
import { Place } from '../../components/place';
import { Segments } from '../../components/segments';
import { Empty } from '../../components/states';
import { useRepeated } from '../../components/use-repeated';
import { type Column, VirtualList } from '../../components/virtual-list';
import { numberText, unreversedText } from '../../formats';
import { type Experiment, EXPERIMENT_PATH, type Scorer, scoreText, type Trial } from './experiment';

type Row = Schemas['ExperimentRowBody'];

const PATH = `${EXPERIMENT_PATH}/rows` as const;
const PAGE_ROWS = 100;
const EVERY_MS = 5_000;

export interface RowsProps {
  experiment: Experiment;
  scorer: Scorer;
  show: 'changed' | 'all';
  /** The two variants side by side. */
  left: string;
  right: string;
  set: (change: { show?: 'changed' | 'all'; left?: string; right?: string }) => void;
}

/** The rows, with the outputs of two variants. Each leads to the comparison of their correlations. */
export function Rows({ experiment, scorer, show, left, right, set }: RowsProps): ReactNode {
  const { experiment_id, state, variants, definition } = experiment;
  const params = { path: { experiment_id }, query: { changed: show === 'changed', limit: PAGE_ROWS } };
  const pages = usePages(PATH, params, { rows: ({ items }) => items, next: nextByCursor });
  useRepeated(() => void pages.refresh(), state === 'running' ? EVERY_MS : undefined);
  const shownState = useRef(state);
  useEffect(() => {
    if (shownState.current === state) return;
    shownState.current = state;
    // The last trials have ended since the rows were read.
    void pages.refresh();
  });
  const choices = variants.map((name) => ({ value: name, text: name }));
  return (
    <section className="flex flex-1 flex-col gap-2" aria-labelledby="rows-title">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <h2 id="rows-title" className="text-body font-strong">
          Rows
        </h2>
        <div className="flex flex-wrap items-end gap-2">
          <ChoiceField label="Left" value={left} choices={choices} onChange={(name) => set({ left: name })} />
          <ChoiceField label="Right" value={right} choices={choices} onChange={(name) => set({ right: name })} />
          <Segments
            label="Show"
            value={show}
            choices={[
              { value: 'changed', text: 'Changed rows' },
              { value: 'all', text: 'All rows' },
            ]}
            onChange={(chosen) => set({ show: chosen })}
          />
          <CurlButton request={{ path: PATH, params }} />
        </div>
      </div>
      <div className="flex min-h-80 flex-1 flex-col">
        <VirtualList
          label="Rows"
          columns={columnsOf({ left, right, scorer, hasExpected: definition.expected !== undefined })}
          pages={pages}
          keyOf={({ index }) => String(index)}
          empty={
            show === 'changed' ? (
              <Empty icon="compare" title="No row has changed">
                Rows appear here when all variants have ended and their outputs differ.
              </Empty>
            ) : (
              <Empty icon="experiment" title="No row has begun yet">
                Rows appear here in the order of the data set.
              </Empty>
            )
          }
        />
      </div>
    </section>
  );
}

interface Shown {
  left: string;
  right: string;
  scorer: Scorer;
  hasExpected: boolean;
}

function columnsOf({ left, right, scorer, hasExpected }: Shown): Column<Row>[] {
  const trialOf = ({ trials }: Row, variant: string): Trial | undefined =>
    trials.find((trial) => trial.variant === variant);
  const output = (id: string, variant: string): Column<Row> => ({
    id,
    title: `Output of ${variant}`,
    width: 'minmax(0, 1fr)',
    render: (row) => <Output trial={trialOf(row, variant)} />,
  });
  const score = (id: string, variant: string): Column<Row> => ({
    id,
    title: scorer.name,
    width: '96px',
    from: 640,
    align: 'end',
    render: (row) => <Score trial={trialOf(row, variant)} scorer={scorer} />,
  });
  return [
    {
      id: 'index',
      title: 'Row',
      width: '72px',
      align: 'end',
      render: (row) => <ToCompare row={row} left={trialOf(row, left)} right={trialOf(row, right)} />,
    },
    { id: 'input', title: 'Input', width: 'minmax(0, 1fr)', from: 760, render: ({ input }) => <Json text={input} /> },
    ...(hasExpected
      ? [
          {
            id: 'expected',
            title: 'Expected',
            width: 'minmax(0, 0.7fr)',
            from: 960,
            render: ({ expected }: Row) => <Json text={expected} />,
          },
        ]
      : []),
    output('left', left),
    score('left score', left),
    output('right', right),
    score('right score', right),
  ];
}

/** A row that could not be tried has no correlations. */
function ToCompare({ row, left, right }: { row: Row; left?: Trial; right?: Trial }): ReactNode {
  const text = numberText(row.index);
  const isTried = (trial: Trial | undefined): trial is Trial =>
    trial !== undefined && (trial.error === undefined || trial.duration_ms !== undefined);
  if (!isTried(left) || !isTried(right)) return text;
  return (
    <Place
      to="/compare"
      search={{ left: left.correlation_id, right: right.correlation_id }}
      className="link relative block"
    >
      <span className="sr-only">Compare row </span>
      {text}
    </Place>
  );
}

function Output({ trial }: { trial: Trial | undefined }): ReactNode {
  if (trial === undefined) return <span className="text-muted">–</span>;
  if (trial.error !== undefined)
    return (
      <span className="text-failed" title={trial.error}>
        {trial.error}
      </span>
    );
  return trial.output === undefined ? <span className="text-muted">{trial.state}</span> : <Json text={trial.output} />;
}

function Score({ trial, scorer }: { trial: Trial | undefined; scorer: Scorer }): ReactNode {
  const own = trial?.scores.find((one) => one.scorer === scorer.name);
  if (own === undefined) return <span className="text-muted">–</span>;
  if (own.score === null)
    return (
      <span className="text-failed" title={own.error}>
        failed
      </span>
    );
  return <span title={own.reason}>{scoreText(scorer, own.score)}</span>;
}

/** JSON as the API has shortened it. */
function Json({ text = '' }: { text?: string }): ReactNode {
  return (
    <span className="font-mono text-label text-muted" title={text}>
      {unreversedText(text)}
    </span>
  );
}

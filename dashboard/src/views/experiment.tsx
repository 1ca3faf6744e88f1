import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { useApi } from '../api/queries';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { CurlButton, IdChip } from '../components/copy';
import { Page } from '../components/page';
import { Failure, LoadingRows } from '../components/states';
import { Cancel } from './experiment/cancel';
import { Distribution } from './experiment/distribution';
import { type Experiment, EXPERIMENT_PATH } from './experiment/experiment';
import { ProgressCard } from './experiment/progress-card';
import { Results } from './experiment/results';
import { Rows } from './experiment/rows';

/** The live connection has no events of experiments. */
const EVERY_MS = 2_000;

const READERS = { scorer: text, left: text, right: text, show: choice('changed', 'all') };

type Shown = Filters<{ [K in keyof typeof READERS]: ReturnType<(typeof READERS)[K]> }>;

export default function OneExperiment(): ReactNode {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const params = { path: { experiment_id: id } };
  const shown: Shown = useFilters(READERS);
  const { data, error, refetch } = useApi(EXPERIMENT_PATH, params, {
    pollMs: (answer) => (answer?.state === 'running' ? EVERY_MS : false),
  });
  const experiment = data?.experiment_id === id ? data : undefined;
  const body = (): ReactNode => {
    if (experiment) return <Body key={id} experiment={experiment} shown={shown} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows />;
  };
  return (
    <Page
      title={experiment?.name === undefined ? 'Experiment' : `Experiment: ${experiment.name}`}
      about={<IdChip id={id} what="experiment" />}
      actions={
        <>
          {experiment?.state === 'running' && <Cancel experiment={experiment} />}
          <CurlButton request={{ path: EXPERIMENT_PATH, params }} />
        </>
      }
    >
      {body()}
    </Page>
  );
}

function Body({ experiment, shown: { value, set } }: { experiment: Experiment; shown: Shown }): ReactNode {
  const { summary, variants } = experiment;
  const { scorers } = experiment.definition;
  const scorer = scorers.find(({ name }) => name === value.scorer) ?? scorers[0]!;
  const variantOf = (name: string, index: number): string => (variants.includes(name) ? name : variants[index]!);
  return (
    <>
      <ProgressCard experiment={experiment} />
      {summary && (
        <>
          <Results experiment={experiment} summary={summary} />
          <Distribution summary={summary} scorers={scorers} scorer={scorer} choose={(name) => set({ scorer: name })} />
        </>
      )}
      <Rows
        experiment={experiment}
        scorer={scorer}
        show={value.show}
        left={variantOf(value.left, 0)}
        right={variantOf(value.right, 1)}
        set={set}
      />
    </>
  );
}

import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { useApi } from '../api/queries';
import { CurlButton, IdChip } from '../components/copy';
import { Page } from '../components/page';
import { Failure, LoadingRows } from '../components/states';
import { Actions } from './batch/actions';
import { BATCH_PATH, isOpen } from './batch/batch';
import { FailureGroups } from './batch/failure-groups';
import { ProgressCard } from './batch/progress-card';
import { Results } from './batch/results';

export default function OneBatch(): ReactNode {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const params = { path: { batch_id: id }, query: { results_limit: 0 } };
  const { data, error, refetch } = useApi(BATCH_PATH, params, {
    live: (event) => event.event_type === 'batch_progress' && event.batch_id === id,
  });
  const batch = data?.batch_id === id ? data : undefined;
  const body = (): ReactNode => {
    if (batch === undefined) return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows />;
    return (
      <>
        <ProgressCard key={`progress of ${id}`} batch={batch} />
        {batch.failed_items > 0 && <FailureGroups id={id} isOpen={isOpen(batch)} />}
        <Results key={id} id={id} />
      </>
    );
  };
  return (
    <Page
      title="Batch"
      about={<IdChip id={id} what="batch" />}
      actions={
        <>
          {batch && <Actions batch={batch} />}
          <CurlButton request={{ path: BATCH_PATH, params }} />
        </>
      }
    >
      {body()}
    </Page>
  );
}

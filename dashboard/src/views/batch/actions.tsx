import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { answered, api } from '../../api/client';
import { announce } from '../../components/announcer';
import { Confirm } from '../../components/dialog';
import { Icon } from '../../components/icon';
import { countText } from '../../formats';
import { type Batch, BATCH_PATH, isOpen } from './batch';

/** Cancel, or retry what failed: both ask, and say how many items they concern. */
export function Actions({ batch }: { batch: Batch }): ReactNode {
  const { batch_id, failed_items: failed, total_items: total, completed_items: ended } = batch;
  if (isOpen(batch))
    return (
      <Action
        batchId={batch_id}
        path={`${BATCH_PATH}/cancel`}
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
      path={`${BATCH_PATH}/retry-failed`}
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
  path: `${typeof BATCH_PATH}/cancel` | `${typeof BATCH_PATH}/retry-failed`;
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
    onSettled: () => client.invalidateQueries({ queryKey: [BATCH_PATH] }),
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

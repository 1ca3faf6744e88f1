import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { answered, api } from '../../api/client';
import { Confirm } from '../../components/dialog';
import { Icon } from '../../components/icon';
import { Place } from '../../components/place';
import { countText } from '../../formats';
import { isRegistered } from '../../views';
import type { TracedExecution } from './rows';

export interface ActionsProps {
  id: string;
  state: string;
  executions: readonly TracedExecution[];
}

export function Actions({ id, state, executions }: ActionsProps): ReactNode {
  const failed = executions.filter((execution) => execution.state === 'failed' && execution.correlation_id === id);
  return (
    <>
      {isRegistered('/publish') && (
        <Place to="/publish" search={{ correlation_id: id }} className="button">
          <Icon name="publish" />
          Publish into it
        </Place>
      )}
      {failed.length > 0 && state !== 'cancelled' && <RetryAll failed={failed} />}
      {state === 'active' && <Cancel id={id} executions={executions} />}
    </>
  );
}

function Cancel({ id, executions }: Omit<ActionsProps, 'state'>): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const client = useQueryClient();
  const { mutateAsync, isPending, error, reset } = useMutation({
    mutationFn: () =>
      answered(api.POST('/api/v1/correlations/{correlation_id}/cancel', { params: { path: { correlation_id: id } } })),
    onSuccess: async () => {
      setIsOpen(false);
      await client.invalidateQueries();
    },
  });
  const open = executions.filter(({ state }) => state === 'pending' || state === 'running').length;
  return (
    <>
      <button type="button" className="button" onClick={() => (reset(), setIsOpen(true))}>
        <Icon name="slash" />
        Cancel
      </button>
      <Confirm
        title="Cancel this correlation?"
        action="Cancel the correlation"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        onConfirm={() => mutateAsync().catch(() => undefined)}
        isBusy={isPending}
        error={error}
      >
        {countText(open, 'execution')} of it {open === 1 ? 'is' : 'are'} pending or running. None of them will end with
        a result, and the correlation takes no further artifacts.
      </Confirm>
    </>
  );
}

function RetryAll({ failed }: { failed: readonly TracedExecution[] }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const client = useQueryClient();
  const { mutateAsync, isPending, error, reset } = useMutation({
    mutationFn: async () => {
      for (const { id } of failed)
        await answered(api.POST('/api/v1/executions/{execution_id}/retry', { params: { path: { execution_id: id } } }));
    },
    onSuccess: () => setIsOpen(false),
    onSettled: () => client.invalidateQueries(),
  });
  const what = countText(failed.length, 'failed execution');
  return (
    <>
      <button type="button" className="button" onClick={() => (reset(), setIsOpen(true))}>
        <Icon name="again" />
        Retry failed
      </button>
      <Confirm
        title="Retry what failed?"
        action={`Retry ${what}`}
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        onConfirm={() => mutateAsync().catch(() => undefined)}
        isBusy={isPending}
        error={error}
      >
        {what} of {[...new Set(failed.map(({ agent }) => agent))].join(', ')} will run again, with the attempts that the
        configuration allows.
      </Confirm>
    </>
  );
}

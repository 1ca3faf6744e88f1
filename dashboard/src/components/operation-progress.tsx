import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';

import { answered, api } from '../api/client';
import { useApi } from '../api/queries';
import type { Schemas } from '../api/requests';
import { countText, numberText } from '../formats';
import { announce } from './announcer';
import { CurlButton } from './copy';
import { Icon } from './icon';
import { Progress } from './progress';
import { StateBadge } from './state-badge';
import { Failure, LoadingRows } from './states';
import { Duration } from './time';

type Operation = Schemas['OperationBody'];

const PATH = '/api/v1/operations/{operation_id}';

const EVERY_MS = 1_000;

export interface OperationProgressProps {
  id: string;
  close: () => void;
}

/** How far an operation over many executions is. */
export function OperationProgress({ id, close }: OperationProgressProps): ReactNode {
  const params = { path: { operation_id: id } };
  const { data, error, refetch } = useApi(PATH, params, {
    pollMs: (operation) => (operation === undefined || operation.state === 'running' ? EVERY_MS : false),
  });
  const operation = data?.operation_id === id ? data : undefined;
  useEnd(operation?.state);
  const body = (): ReactNode => {
    if (operation !== undefined) return <Details operation={operation} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={2} />;
  };
  return (
    <section aria-label="Operation" className="card flex flex-col gap-2 p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-body font-strong">{operation ? titleOf(operation) : 'Operation'}</h2>
        <span className="flex items-center gap-2">
          {operation?.state === 'running' && <CancelButton id={id} />}
          <CurlButton request={{ path: PATH, params }} />
          <button type="button" className="icon-button" aria-label="Close the operation" onClick={close}>
            <Icon name="cross" />
          </button>
        </span>
      </div>
      {body()}
    </section>
  );
}

/** Asks again for all that is shown when an operation has ended. */
function useEnd(state: Operation['state'] | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (state === undefined || state === 'running') return;
    announce(`The operation is ${state}`);
    void client.invalidateQueries();
  }, [client, state]);
}

function titleOf({ kind, filter: { agent, error_type, correlation_id, group } }: Operation): string {
  const parts = [
    kind === 'retry' ? 'Retry of failed executions' : 'Failure of waiting executions',
    agent && `of ${agent}`,
    error_type && `with ${error_type}`,
    correlation_id && `in ${correlation_id}`,
    group && 'in one group',
  ];
  return parts.filter(Boolean).join(' ');
}

function Details({ operation }: { operation: Operation }): ReactNode {
  const { kind, state, matched, done, failed, last_error, created_at, ended_at } = operation;
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-table">
        <StateBadge state={state} />
        <span className="tabular-nums">
          {numberText(done)} of {countText(matched, 'execution')} {kind === 'retry' ? 'retried' : 'failed'}
        </span>
        {failed > 0 && <span className="text-failed">{numberText(failed)} refused</span>}
        <span className="text-muted">
          <Duration from={created_at} to={ended_at} />
        </span>
      </p>
      <Progress label="Progress of the operation" ended={done + failed} failed={failed} total={matched} />
      {last_error !== null && <p className="text-table text-failed">{last_error}</p>}
    </>
  );
}

function CancelButton({ id }: { id: string }): ReactNode {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      answered(api.POST('/api/v1/operations/{operation_id}/cancel', { params: { path: { operation_id: id } } })),
    onError: (error) => announce(error.message),
    onSettled: () => client.invalidateQueries({ queryKey: [PATH] }),
  });
  return (
    <button type="button" className="button" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
      <Icon name="slash" />
      Cancel
    </button>
  );
}

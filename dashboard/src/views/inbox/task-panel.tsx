import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';

import { answered, api } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { announce } from '../../components/announcer';
import { ArtifactList } from '../../components/artifact-list';
import { CurlButton, IdChip } from '../../components/copy';
import { Dialog } from '../../components/dialog';
import { type Fact, Facts } from '../../components/facts';
import { SidePanel } from '../../components/side-panel';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago } from '../../components/time';
import { AnswerForm, type Output } from './answer-form';
import { storedName, storeName, useHeldLease } from './held-lease';

type Execution = Schemas['ExecutionBody'];

const PATH = '/api/v1/executions/{execution_id}';

interface TaskPanelProps {
  id: string;
  close: () => void;
  /** It was claimed, released or ended. */
  changed: () => void;
  /** It has ended through this panel. */
  ended: () => void;
}

/** Shows what an execution asks of a person: its inputs, and the answer after it is claimed. */
export function TaskPanel({ id, close, changed, ended }: TaskPanelProps): ReactNode {
  const params = { path: { execution_id: id } };
  const { data, error, refetch } = useApi(PATH, params, {
    live: (event) => 'execution_id' in event && event.execution_id === id,
  });
  // The answer for another execution is kept while this one is read.
  const execution = data?.id === id ? data : undefined;
  const body = (): ReactNode => {
    if (execution !== undefined) return <Task execution={execution} changed={changed} ended={ended} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
  };
  return (
    <SidePanel title="Task" close={close}>
      {body()}
    </SidePanel>
  );
}

function Task({
  execution,
  changed,
  ended,
}: { execution: Execution } & Omit<TaskPanelProps, 'id' | 'close'>): ReactNode {
  const { id, agent, state, inputs, form = {} } = execution;
  const client = useQueryClient();
  const [lease, setLease] = useHeldLease(id);
  const [asks, setAsks] = useState<'name' | 'reason'>();
  const params = { path: { execution_id: id } };

  const refresh = async (): Promise<void> => {
    changed();
    await client.invalidateQueries({ queryKey: [PATH] });
  };
  const finish = (said: string): void => {
    setLease(undefined);
    setAsks(undefined);
    announce(said);
    ended();
  };
  const claim = useMutation({
    mutationFn: (claimed_by: string) => answered(api.POST(`${PATH}/claim`, { params, body: { claimed_by } })),
    onSuccess: ({ lease_token, lease_until }) => {
      setLease({ token: lease_token, until: lease_until });
      announce('Claimed');
    },
    onSettled: refresh,
  });
  const release = useMutation({
    mutationFn: (lease_token: string) => answered(api.POST(`${PATH}/release`, { params, body: { lease_token } })),
    onSuccess: () => announce('Released'),
    onSettled: () => {
      setLease(undefined);
      return refresh();
    },
  });
  const complete = useMutation({
    mutationFn: (outputs: Output[]) =>
      answered(api.POST(`${PATH}/complete`, { params, body: { lease_token: lease!.token, outputs } })),
    onSuccess: () => finish('Completed'),
    onSettled: refresh,
  });
  const fail = useMutation({
    mutationFn: ({ message, final }: { message: string; final: boolean }) =>
      answered(
        api.POST(`${PATH}/fail`, {
          params,
          body: { lease_token: lease!.token, error_message: message, error_type: 'rejected', final },
        }),
      ),
    onSuccess: () => finish('Failed'),
    onSettled: refresh,
  });
  const claimNow = (): void => {
    if (storedName() === '') setAsks('name');
    else claim.mutate(storedName());
  };
  const refusal = claim.error ?? release.error;
  const answer = useRef<HTMLElement>(null);
  const isClaimed = state === 'running' && lease !== undefined;
  // The button that claimed it had the focus and is gone.
  useEffect(() => {
    if (isClaimed && document.activeElement === document.body)
      answer.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
  }, [isClaimed]);

  return (
    <>
      <Facts facts={factsOf(execution)} />
      {refusal && (
        <p role="alert" className="text-table text-failed">
          {refusal.message}
        </p>
      )}
      {state === 'pending' && (
        <button
          type="button"
          data-key="c"
          className="button-main self-start"
          disabled={claim.isPending}
          onClick={claimNow}
        >
          Claim
        </button>
      )}
      {state === 'running' && lease === undefined && (
        <p className="text-table text-muted">{execution.claimed_by ?? 'Another client'} works on it.</p>
      )}
      <div className="flex flex-col gap-4">
        <section>
          <h3 className="pb-1 text-label text-muted">Inputs</h3>
          <ArtifactList artifacts={inputs} />
        </section>
        {isClaimed && (
          <section ref={answer} className="border-t border-line pt-4">
            <AnswerForm
              form={form}
              isBusy={complete.isPending}
              error={complete.error}
              submit={(outputs) => complete.mutate(outputs)}
            >
              <button type="button" className="button" onClick={() => setAsks('reason')}>
                Fail
              </button>
              <button
                type="button"
                data-key="r"
                className="button"
                disabled={release.isPending}
                onClick={() => release.mutate(lease.token)}
              >
                Release
              </button>
            </AnswerForm>
          </section>
        )}
      </div>
      <div>
        <CurlButton request={{ path: PATH, params }} />
      </div>
      <NameDialog
        isOpen={asks === 'name'}
        onClose={() => setAsks(undefined)}
        done={(name) => {
          storeName(name);
          setAsks(undefined);
          claim.mutate(name);
        }}
      />
      <FailDialog
        agent={agent}
        isOpen={asks === 'reason'}
        onClose={() => setAsks(undefined)}
        isBusy={fail.isPending}
        error={fail.error}
        fail={(message, final) => fail.mutate({ message, final })}
      />
    </>
  );
}

function factsOf(execution: Execution): Fact[] {
  const { id, agent, correlation_id, state, assignee, claimed_by, due_at, lease_until, escalated_at } = execution;
  return [
    ['Agent', agent],
    ['State', <StateBadge state={state === 'running' ? 'claimed' : state} />],
    ['For', assignee],
    ['Claimed by', state === 'running' ? claimed_by : null],
    ['Held until', state === 'running' && lease_until ? <Ago at={lease_until} /> : null],
    ['Due', due_at && <Ago at={due_at} />],
    ['Escalated', escalated_at && <Ago at={escalated_at} />],
    [
      'Correlation',
      <IdChip
        id={correlation_id}
        what="correlation"
        to={{ to: '/correlations/$id', params: { id: correlation_id } }}
      />,
    ],
    ['Id', <IdChip id={id} what="execution" />],
  ];
}

interface AskProps {
  isOpen: boolean;
  onClose: () => void;
}

const fieldOf = (event: FormEvent<HTMLFormElement>, name: string): string => {
  event.preventDefault();
  return ((new FormData(event.currentTarget).get(name) as string | null) ?? '').trim();
};

/** Asked once; this browser keeps the answer. */
function NameDialog({ isOpen, onClose, done }: AskProps & { done: (name: string) => void }): ReactNode {
  return (
    <Dialog title="Who are you?" isOpen={isOpen} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          const name = fieldOf(event, 'name');
          if (name !== '') done(name);
        }}
      >
        <label className="flex flex-col gap-1 text-table">
          Your name, which others see beside what you claim
          <input name="name" required maxLength={255} autoComplete="name" className="control" />
        </label>
        <p className="text-label text-muted">This browser keeps it.</p>
        <button type="submit" className="button-main self-end">
          Claim
        </button>
      </form>
    </Dialog>
  );
}

interface FailDialogProps extends AskProps {
  agent: string;
  isBusy: boolean;
  error: Error | null;
  fail: (message: string, final: boolean) => void;
}

function FailDialog({ agent, isOpen, onClose, isBusy, error, fail }: FailDialogProps): ReactNode {
  const [isFinal, setIsFinal] = useState(false);
  return (
    <Dialog title="Fail this task?" isOpen={isOpen} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          const reason = fieldOf(event, 'reason');
          if (reason !== '') fail(reason, isFinal);
        }}
      >
        <label className="flex flex-col gap-1 text-table">
          Why it cannot be done
          <textarea name="reason" required rows={3} maxLength={1_000} className="control h-auto py-1.5" />
        </label>
        <label className="flex min-h-6 items-center gap-2 text-table">
          <input type="checkbox" checked={isFinal} onChange={({ target }) => setIsFinal(target.checked)} />
          Do not try again, whatever the retries of {agent}
        </label>
        {error && (
          <p role="alert" className="text-table text-failed">
            {error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={onClose}>
            Leave it
          </button>
          <button type="submit" className="button-main" disabled={isBusy}>
            Fail the task
          </button>
        </div>
      </form>
    </Dialog>
  );
}

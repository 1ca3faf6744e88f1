import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { ArtifactList } from '../../components/artifact-list';
import { CurlButton, IdChip } from '../../components/copy';
import { Confirm } from '../../components/dialog';
import { ErrorDetails } from '../../components/error-details';
import { type Fact, Facts } from '../../components/facts';
import { Icon } from '../../components/icon';
import { CancellingArtifact, OtherExecution } from '../../components/origins';
import { Place } from '../../components/place';
import { SidePanel } from '../../components/side-panel';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Duration, Time } from '../../components/time';
import { useQuestion } from '../../components/use-question';
import { countText } from '../../formats';

type Execution = Schemas['ExecutionBody'];

const PATH = '/api/v1/executions/{execution_id}';

interface ExecutionPanelProps {
  id: string;
  close: () => void;
  /** The execution was retried. */
  changed: () => void;
}

/** One execution: its attempts with their errors, its artifacts, and its retry. */
export function ExecutionPanel({ id, close, changed }: ExecutionPanelProps): ReactNode {
  const params = { path: { execution_id: id } };
  const { data, error, refetch } = useApi(PATH, params, {
    live: (event) => 'execution_id' in event && event.execution_id === id && event.event_type !== 'execution_output',
  });
  // The answer for another execution is kept while this one is read.
  const execution = data?.id === id ? data : undefined;
  const body = (): ReactNode => {
    if (execution !== undefined) return <ExecutionDetails execution={execution} changed={changed} />;
    return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
  };
  return (
    <SidePanel title="Execution" close={close}>
      {body()}
    </SidePanel>
  );
}

function ExecutionDetails({ execution, changed }: { execution: Execution; changed: () => void }): ReactNode {
  const { id, state, replay, inputs, outputs, errors } = execution;
  return (
    <>
      <Facts facts={factsOf(execution)} />
      <div className="flex flex-wrap gap-2">
        {state === 'failed' && replay !== 'unanswered' && <RetryButton execution={execution} changed={changed} />}
        <CurlButton request={{ path: PATH, params: { path: { execution_id: id } } }} />
      </div>
      <Attempts execution={execution} />
      {[
        { title: 'Inputs', artifacts: inputs },
        { title: 'Outputs', artifacts: outputs },
        { title: 'Errors', artifacts: errors },
      ].map(
        ({ title, artifacts }) =>
          artifacts.length > 0 && (
            <section key={title}>
              <h3 className="pb-1 text-label text-muted">{title}</h3>
              <ArtifactList artifacts={artifacts} />
            </section>
          ),
      )}
    </>
  );
}

function factsOf(execution: Execution): Fact[] {
  const { id, agent, correlation_id, state, created_at, next_attempt_at, assignee, claimed_by } = execution;
  return [
    ['Id', <IdChip id={id} what="execution" />],
    ['State', <StateBadge state={state} />],
    [
      'Agent',
      <Place to="/agents/$name" params={{ name: agent }}>
        {agent}
      </Place>,
    ],
    [
      'Correlation',
      <IdChip
        id={correlation_id}
        what="correlation"
        to={{ to: '/correlations/$id', params: { id: correlation_id } }}
      />,
    ],
    ['Created', <Time at={created_at} />],
    ['Next attempt', next_attempt_at && state === 'pending' ? <Ago at={next_attempt_at} /> : null],
    ['Assignee', assignee],
    ['Claimed by', claimed_by],
    ['Due', execution.due_at && <Ago at={execution.due_at} />],
    ['Cancelled by', execution.cancelled_by && <CancellingArtifact id={execution.cancelled_by} />],
    ['Answer of', execution.cached_from && <OtherExecution id={execution.cached_from} />],
    ['Superseded by', execution.superseded_by && <CancellingArtifact id={execution.superseded_by} />],
    ['Skipped for', execution.skipped_for && <OtherExecution id={execution.skipped_for} />],
    ['Variant', execution.variant ?? null],
    ['Lost leases', execution.lost_leases > 0 ? execution.lost_leases : null],
    ['Cost', costOf(execution)],
    ['Tool calls', execution.tool_calls?.length ? countText(execution.tool_calls.length, 'call') : null],
  ];
}

function costOf({ model_uses: uses = [] }: Execution): string | null {
  if (uses.length === 0) return null;
  const tokens = uses.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0);
  const cost = uses.reduce((sum, use) => sum + (use.cost ?? 0), 0);
  return `${countText(tokens, 'token')}${cost > 0 ? `, ${cost.toFixed(4)}` : ''}`;
}

function Attempts({ execution: { attempts } }: { execution: Execution }): ReactNode {
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">Attempts</h3>
      {attempts.length === 0 && <p className="text-table text-muted">None has begun.</p>}
      <ol className="flex flex-col gap-2">
        {attempts.map(({ round, attempt, started_at, ended_at, error_type, error_message, cause, stack }) => (
          <li key={`${round}-${attempt}`} className="border-l-2 border-line pl-3 text-table">
            <span className="flex flex-wrap items-baseline gap-x-3">
              <span className="font-strong">
                {attempt}
                {round > 0 && ` of retry ${round}`}
              </span>
              {started_at && <Time at={started_at} />}
              {started_at && ended_at && (
                <span className="text-muted">
                  took <Duration from={started_at} to={ended_at} />
                </span>
              )}
            </span>
            {error_message !== null && (
              <p className="whitespace-pre-wrap">
                <span className="text-failed">{error_type}</span> {error_message}
              </p>
            )}
            <ErrorDetails cause={cause} stack={stack} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function RetryButton({ execution: { id, agent }, changed }: { execution: Execution; changed: () => void }): ReactNode {
  const client = useQueryClient();
  const question = useQuestion({
    run: () =>
      answered(api.POST('/api/v1/executions/{execution_id}/retry', { params: { path: { execution_id: id } } })),
    done: 'The execution runs again',
    onDone: () => {
      changed();
      return client.invalidateQueries({ queryKey: [PATH] });
    },
  });
  return (
    <>
      <button type="button" className="button-main" onClick={question.ask}>
        <Icon name="again" />
        Retry
      </button>
      <Confirm title="Retry this execution?" action="Retry 1 execution" {...question.confirm}>
        Agent {agent} runs again on the same inputs, with all its attempts, and its correlation reopens.
      </Confirm>
    </>
  );
}

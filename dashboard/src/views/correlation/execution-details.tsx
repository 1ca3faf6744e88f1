import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { IdChip } from '../../components/copy';
import { ErrorDetails } from '../../components/error-details';
import { Icon } from '../../components/icon';
import { JsonLine } from '../../components/json-line';
import { CancellingArtifact, OtherExecution } from '../../components/origins';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Duration, Time } from '../../components/time';
import { costText, durationText, numberText } from '../../formats';
import { mayRetry, type ReplayMode } from './may-retry';
import { ModelText } from './model-text';

type Execution = Schemas['ExecutionBody'];

const PATH = '/api/v1/executions/{execution_id}';

const REPLAY_MS = 2_000;

interface ExecutionDetailsProps {
  id: string;
  /** That of its correlation. Undefined if it is not a replay. */
  replayMode: ReplayMode;
}

/** Shows what one execution did: its attempts, its inputs and outputs, and the text and cost of its model. */
export function ExecutionDetails({ id, replayMode }: ExecutionDetailsProps): ReactNode {
  const { data, error, refetch } = useApi(
    PATH,
    { path: { execution_id: id } },
    {
      live: (event) => event.event_type !== 'execution_output' && 'execution_id' in event && event.execution_id === id,
      // The live connection leaves replays out.
      pollMs: (execution) => execution?.replay !== undefined && execution.ended_at === null && REPLAY_MS,
    },
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined || data.id !== id) return <LoadingRows count={6} />;
  return (
    <div className="flex flex-col gap-4 p-3">
      <Head execution={data} replayMode={replayMode} />
      <Facts execution={data} />
      <ModelText execution={data} />
      <Attempts execution={data} />
      <Artifacts title="Inputs" artifacts={data.inputs} />
      <Artifacts title="Published" artifacts={[...data.outputs, ...data.errors]} />
      <ModelUses execution={data} />
      <ToolCalls execution={data} />
    </div>
  );
}

function Head({ execution, replayMode }: { execution: Execution; replayMode: ReplayMode }): ReactNode {
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <div>
        <h2 className="text-body font-strong">
          <Place to="/agents/$name" params={{ name: execution.agent }}>
            {execution.agent}
          </Place>
        </h2>
        <IdChip id={execution.id} what="execution" />
      </div>
      <div className="flex items-center gap-3">
        <StateBadge state={execution.state} />
        {mayRetry(execution, replayMode) && <Retry id={execution.id} />}
      </div>
    </div>
  );
}

function Retry({ id }: { id: string }): ReactNode {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answered(api.POST('/api/v1/executions/{execution_id}/retry', { params: { path: { execution_id: id } } })),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <span className="flex flex-col items-end gap-1">
      <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
        <Icon name="again" />
        Retry
      </button>
      {error && (
        <span role="alert" className="text-label text-failed">
          {error.message}
        </span>
      )}
    </span>
  );
}

function Facts({ execution }: { execution: Execution }): ReactNode {
  const { created_at, started_at, ended_at, next_attempt_at, assignee, claimed_by, lease_until, due_at } = execution;
  const { cancelled_by, cached_from, skipped_for, superseded_by, variant } = execution;
  const facts: [name: string, value: ReactNode][] = [['Created', <Time key="created" at={created_at} />]];
  if (started_at !== null)
    facts.push(
      ['Waited', <Duration key="waited" from={created_at} to={started_at} />],
      [ended_at === null ? 'Running for' : 'Took', <Duration key="took" from={started_at} to={ended_at} />],
    );
  if (next_attempt_at !== null && ended_at === null)
    facts.push(['Next attempt', <Time key="next" at={next_attempt_at} />]);
  if (assignee !== null) facts.push(['Assigned to', assignee]);
  if (claimed_by !== null) facts.push(['Claimed by', claimed_by]);
  if (lease_until !== null) facts.push(['Held until', <Time key="lease" at={lease_until} />]);
  if (due_at !== null && ended_at === null) facts.push(['Due', <Time key="due" at={due_at} />]);
  if (cancelled_by !== undefined)
    facts.push(['Cancelled by', <CancellingArtifact key="cancelled" id={cancelled_by} />]);
  if (cached_from !== undefined) facts.push(['Answer of', <OtherExecution key="cached" id={cached_from} />]);
  if (superseded_by !== undefined)
    facts.push(['Superseded by', <CancellingArtifact key="superseded" id={superseded_by} />]);
  if (skipped_for !== undefined) facts.push(['Skipped for', <OtherExecution key="skipped" id={skipped_for} />]);
  if (variant !== undefined) facts.push(['Variant', variant]);
  return (
    <>
      {execution.error_message !== null && (
        <p className="rounded-md border border-failed p-2 text-table">
          <span className="font-strong text-failed">{execution.error_type}</span>: {execution.error_message}
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-table">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">{title}</h3>
      {children}
    </section>
  );
}

function Attempts({ execution: { attempts } }: { execution: Execution }): ReactNode {
  if (attempts.length === 0) return null;
  return (
    <Section title="Attempts">
      <ol className="flex flex-col gap-1 text-table">
        {attempts.map(({ round, attempt, started_at, ended_at, error_type, error_message, cause, stack }) => (
          <li key={`${round} ${attempt}`} className="rounded-md border border-line px-2 py-1.5">
            <span className="flex justify-between gap-2">
              <span>
                {attempt}
                {round > 0 && <span className="text-muted"> after retry {round}</span>}
              </span>
              {started_at !== null && <Duration from={started_at} to={ended_at} />}
            </span>
            {error_type !== null && (
              <span className="block text-label">
                <span className="text-failed">{error_type}</span>: {error_message}
              </span>
            )}
            <ErrorDetails cause={cause} stack={stack} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Artifacts({ title, artifacts }: { title: string; artifacts: Schemas['ArtifactBody'][] }): ReactNode {
  if (artifacts.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="flex flex-col gap-1 text-table">
        {artifacts.map(({ id, type, payload }) => (
          <li key={id} className="rounded-md border border-line px-2 py-1.5">
            <span className="flex items-center justify-between gap-2">
              <Place to="/artifacts/$id" params={{ id }}>
                {type}
              </Place>
              <IdChip id={id} what="artifact" />
            </span>
            <span className="block truncate">
              <JsonLine value={payload} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ModelUses({ execution: { model_uses = [] } }: { execution: Execution }): ReactNode {
  if (model_uses.length === 0) return null;
  const tokens = model_uses.reduce((sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens, 0);
  const costs = model_uses.flatMap(({ cost = [] }) => cost);
  return (
    <Section title="Model calls">
      <ul className="text-table">
        {model_uses.map(({ at, attempt, model, input_tokens, output_tokens, cost, latency_ms }) => (
          <li key={`${attempt} ${at}`} className="flex flex-wrap justify-between gap-x-4">
            <span>{model}</span>
            <span className="text-muted">
              {numberText(input_tokens)} → {numberText(output_tokens)} tokens, {durationText(latency_ms)}
              {cost !== undefined && `, cost ${costText(cost)}`}
            </span>
          </li>
        ))}
      </ul>
      {model_uses.length > 1 && (
        <p className="pt-1 text-right text-table font-strong">
          {numberText(tokens)} tokens
          {costs.length > 0 && `, cost ${costText(costs.reduce((sum, cost) => sum + cost, 0))}`}
        </p>
      )}
    </Section>
  );
}

function ToolCalls({ execution: { tool_calls = [] } }: { execution: Execution }): ReactNode {
  if (tool_calls.length === 0) return null;
  return (
    <Section title="Tool calls">
      <ul className="flex flex-col gap-1 text-table">
        {tool_calls.map(({ at, server, tool, outcome, duration_ms }, index) => (
          <li key={`${at} ${index}`} className="flex items-center justify-between gap-4">
            <span>
              {server}: {tool}
            </span>
            <span className="flex items-center gap-2">
              {duration_ms !== undefined && <span className="text-muted">{durationText(duration_ms)}</span>}
              <StateBadge state={outcome} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

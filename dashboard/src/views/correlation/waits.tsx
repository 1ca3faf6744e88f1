import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import type { Answer } from '../../api/requests';
import { Place } from '../../components/place';
import { StateIcon } from '../../components/state-badge';
import { FailureLine, LoadingRows } from '../../components/states';
import { Ago, Duration, Time } from '../../components/time';
import { countText } from '../../formats';

const PATH = '/api/v1/correlations/{correlation_id}/waiting';

type Wait = Answer<typeof PATH>['items'][number];

const MOST_SHOWN = 8;

/** Lists what must happen before an active correlation settles, one sentence for each. */
export function Waits({ id }: { id: string }): ReactNode {
  const { data, error, refetch } = useApi(
    PATH,
    { path: { correlation_id: id }, query: { limit: MOST_SHOWN } },
    { live: (event) => event.event_type !== 'execution_output' && event.correlation_id === id, pollMs: 10_000 },
  );
  if (data?.items.length === 0) return null;
  return (
    <section aria-label="Waits for" className="card px-3 py-2">
      <h2 className="pb-1 text-label text-muted">Waits for</h2>
      {data !== undefined ? (
        <Sentences waiting={data} />
      ) : error ? (
        <FailureLine error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows count={1} />
      )}
    </section>
  );
}

function Sentences({ waiting: { items, counts } }: { waiting: Answer<typeof PATH> }): ReactNode {
  const total = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <ul className="flex flex-col gap-1 text-table">
        {items.map((wait) => (
          <li key={keyOf(wait)} className="flex items-start gap-2">
            <StateIcon state={STATES[wait.kind]} />
            <span>
              <Sentence wait={wait} />
            </span>
          </li>
        ))}
      </ul>
      {total > items.length && (
        <p className="pt-1 text-label text-muted">and {countText(total - items.length, 'more', 'more')}</p>
      )}
    </>
  );
}

const STATES: Record<Wait['kind'], string> = {
  release: 'waiting',
  deadline: 'waiting',
  join: 'waiting',
  window: 'waiting',
  running: 'running',
  held: 'waiting',
  retry: 'retrying',
  ready: 'pending',
  unclaimed: 'waiting',
  concurrency: 'pending',
  slots: 'pending',
  paused: 'paused',
  no_process: 'waiting',
  no_configuration: 'waiting',
  budget: 'pending',
  limit: 'pending',
};

function keyOf(wait: Wait): string {
  if ('execution_id' in wait) return wait.execution_id;
  return 'group_id' in wait ? wait.group_id : `${wait.kind} ${wait.artifact_id}`;
}

function Sentence({ wait }: { wait: Wait }): ReactNode {
  switch (wait.kind) {
    case 'deadline':
      return (
        <>
          its deadline: it is cancelled <Ago at={wait.until} /> unless it ends before
        </>
      );
    case 'release':
      return (
        <>
          a hidden {wait.artifact_type}, which agents see from <Time at={wait.until} /> on
        </>
      );
    case 'join':
    case 'window':
      return <GroupSentence group={wait} />;
    default:
      return <ExecutionSentence execution={wait} />;
  }
}

const Agent = ({ name }: { name: string }): ReactNode => (
  <Place to="/agents/$name" params={{ name }} className="link underline">
    {name}
  </Place>
);

function GroupSentence({ group }: { group: Extract<Wait, { kind: 'join' | 'window' }> }): ReactNode {
  const { kind, group_id, agent, join_key, waiting_for, size, size_needed, until, without_process } = group;
  const link = (text: string): ReactNode => (
    <Place to="/waiting" search={{ group: group_id }} className="link underline">
      {text}
    </Place>
  );
  return (
    <>
      {kind === 'join' ? (
        <>
          {waiting_for.length === 0 ? 'the evaluation' : waiting_for.join(' and ')} for the {link('join')} of{' '}
          <Agent name={agent} />
        </>
      ) : (
        <>
          the {link('batch window')}
          {join_key !== null && (
            <>
              {' '}
              of the key <code className="font-mono">{join_key}</code>
            </>
          )}{' '}
          of <Agent name={agent} />, which has {size}
          {size_needed !== null && ` of ${size_needed}`}
        </>
      )}
      {until !== null && (
        <>
          , until <Time at={until} />
        </>
      )}
      {without_process && '; no process has this subscription'}
    </>
  );
}

function ExecutionSentence({ execution }: { execution: Extract<Wait, { execution_id: string }> }): ReactNode {
  const { kind, agent, attempt, since, until, limit, assignee, claimed_by, due_at } = execution;
  const name = <Agent name={agent} />;
  const due = due_at !== null && (
    <>
      , due <Ago at={due_at} />
    </>
  );
  switch (kind) {
    case 'running':
      return (
        <>
          {name}, which has run for <Duration from={since} />
          {attempt > 1 && ` (attempt ${attempt})`}
        </>
      );
    case 'held':
      return (
        <>
          {name}, which {claimed_by ?? 'a client'} has claimed
          {until !== null && (
            <>
              {' '}
              until <Time at={until} />
            </>
          )}
          {due}
        </>
      );
    case 'retry':
      return (
        <>
          {name}, attempt {attempt} {until === null ? '' : <Ago at={until} />}
        </>
      );
    case 'unclaimed':
      return (
        <>
          {name}, which {assignee ?? 'a person or a worker'} has to claim{due}
        </>
      );
    case 'concurrency':
      return (
        <>
          {name},{' '}
          {limit === null ? 'of which as many executions run as may run at the same time' : `which waits for ${limit}`}
        </>
      );
    case 'limit':
      return (
        <>
          {name}, which waits for {limit ?? 'the keys of its limits'}
        </>
      );
    default:
      return (
        <>
          {name}, {REASONS[kind]}
        </>
      );
  }
}

const REASONS: Record<'ready' | 'slots' | 'paused' | 'no_process' | 'no_configuration' | 'budget', string> = {
  ready: 'which is about to start',
  slots: 'because each process runs as many executions as it may',
  paused: 'which is paused',
  no_process: 'which no live process has',
  no_configuration: 'for which no live process has the configuration of this replay, as it was at its start',
  budget: 'because running model calls may use the rest of a budget',
};

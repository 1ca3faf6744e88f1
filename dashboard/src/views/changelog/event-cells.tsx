import type { ReactNode } from 'react';

import { IdChip } from '../../components/copy';
import { Icon, type IconName } from '../../components/icon';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { Ago } from '../../components/time';
import { numberText } from '../../formats';
import type { LiveEvent, OtherEvent } from '../../live/messages';

const LOOKS: Record<LiveEvent['event_type'], { icon: IconName; colour: string; word: string }> = {
  artifact_published: { icon: 'artifact', colour: 'text-text', word: 'published' },
  artifact_consumed: { icon: 'down', colour: 'text-idle', word: 'consumed' },
  execution_started: { icon: 'ring', colour: 'text-running', word: 'started' },
  execution_succeeded: { icon: 'check', colour: 'text-completed', word: 'succeeded' },
  execution_retrying: { icon: 'again', colour: 'text-waiting', word: 'retrying' },
  execution_failed: { icon: 'cross', colour: 'text-failed', word: 'failed' },
  execution_escalated: { icon: 'warning', colour: 'text-waiting', word: 'escalated' },
  execution_output: { icon: 'terminal', colour: 'text-running', word: 'writes' },
  run_progress: { icon: 'execution', colour: 'text-idle', word: 'run' },
  batch_progress: { icon: 'batch', colour: 'text-idle', word: 'batch' },
  correlation_settled: { icon: 'correlation', colour: 'text-idle', word: 'settled' },
};

/** Shows the kind of an event as an icon and a word. */
export function EventKind({ event: { event_type } }: { event: LiveEvent }): ReactNode {
  const { icon, colour, word } = LOOKS[event_type];
  return (
    <span title={event_type} className={`inline-flex items-center gap-1.5 align-middle ${colour}`}>
      <Icon name={icon} />
      <span className="max-sm:sr-only">{word}</span>
    </span>
  );
}

const Agent = ({ name }: { name: string }): ReactNode => (
  <Place to="/agents/$name" params={{ name }}>
    {name}
  </Place>
);

/** To what it happened: an artifact, an agent, a batch or a correlation. */
export function Subject({ event }: { event: LiveEvent }): ReactNode {
  if (event.event_type === 'artifact_published')
    return (
      <Place to="/artifacts/$id" params={{ id: event.artifact_id }}>
        {event.artifact_type}
      </Place>
    );
  const { agent = event.consumer, correlation_id } = event;
  if (agent !== undefined) return <Agent name={agent} />;
  return correlation_id === undefined ? null : <Correlation id={correlation_id} />;
}

export function Correlation({ id }: { id: string }): ReactNode {
  return <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />;
}

/** Shows the other fields of an event. */
export function Details({ event }: { event: LiveEvent }): ReactNode {
  if (event.event_type !== 'artifact_published') return <OtherDetails event={event} />;
  if (event.produced_by === 'external') return <span className="text-muted">by a client</span>;
  return (
    <span className="text-muted">
      by <Agent name={event.produced_by} />
    </span>
  );
}

function OtherDetails({ event }: { event: OtherEvent }): ReactNode {
  const { artifact_id: id, attempt, error_type, retry_at, assignee, text, status, batch_id, state } = event;
  switch (event.event_type) {
    case 'artifact_consumed':
      return <IdChip id={id!} what="artifact" to={{ to: '/artifacts/$id', params: { id: id! } }} />;
    case 'execution_started':
    case 'execution_succeeded':
      return <span className="text-muted">attempt {attempt}</span>;
    case 'execution_retrying':
      return (
        <span className="text-muted">
          <span className="text-failed">{error_type}</span> in attempt {attempt}; next{' '}
          {retry_at !== undefined && <Ago at={retry_at} />}
        </span>
      );
    case 'execution_failed':
      return (
        <span className="text-muted">
          <span className="text-failed">{error_type}</span> in attempt {attempt}
        </span>
      );
    case 'execution_escalated':
      return <span className="text-muted">it was due; now for {assignee}</span>;
    case 'execution_output':
      return <span title={text}>{text}</span>;
    case 'run_progress':
      return status !== undefined && <StateBadge state={status} />;
    case 'batch_progress':
      return (
        <span className="text-muted">
          <Place to="/batches/$id" params={{ id: batch_id! }}>
            {numberText(event.completed_items ?? 0)} of {numberText(event.total_items ?? 0)} items
          </Place>
          , {numberText(event.failed_items ?? 0)} failed
        </span>
      );
    case 'correlation_settled':
      return state !== undefined && <StateBadge state={state} />;
  }
}

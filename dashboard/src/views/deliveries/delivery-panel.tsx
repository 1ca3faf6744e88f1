import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { CurlButton, IdChip } from '../../components/copy';
import { Confirm } from '../../components/dialog';
import { type Fact, Facts } from '../../components/facts';
import { Icon } from '../../components/icon';
import { Place } from '../../components/place';
import { SidePanel } from '../../components/side-panel';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Time } from '../../components/time';
import { useQuestion } from '../../components/use-question';
import { durationText, numberText } from '../../formats';

type Delivery = Schemas['DeliveryWithAttemptsBody'];

const PATH = '/api/v1/webhooks/deliveries/{delivery_id}';

const EVERY_MS = 2_000;

interface DeliveryPanelProps {
  id: string;
  close: () => void;
  /** The delivery is sent again. */
  changed: () => void;
}

const hasEnded = ({ state }: Delivery): boolean => state === 'delivered' || state === 'dead';

/** One delivery: its attempts with the answers of the receiver, and a button that sends it again. */
export function DeliveryPanel({ id, close, changed }: DeliveryPanelProps): ReactNode {
  const params = { path: { delivery_id: id } };
  const { data, error, refetch } = useApi(PATH, params, {
    pollMs: (answer) => (answer !== undefined && hasEnded(answer) ? false : EVERY_MS),
  });
  // The answer for another delivery is kept while this one is read.
  const delivery = data?.delivery_id === id ? data : undefined;
  const body = (): ReactNode => {
    if (delivery === undefined)
      return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
    return (
      <>
        <Facts facts={factsOf(delivery)} />
        <div className="flex flex-wrap gap-2">
          {hasEnded(delivery) && <SendAgain delivery={delivery} changed={changed} />}
          <CurlButton request={{ path: PATH, params }} />
        </div>
        <Attempts delivery={delivery} />
      </>
    );
  };
  return (
    <SidePanel title="Delivery" close={close}>
      {body()}
    </SidePanel>
  );
}

function factsOf(delivery: Delivery): Fact[] {
  const { delivery_id, state, target_id, target_origin, correlation_id, artifact_id, sequence } = delivery;
  const { created_at, next_attempt_at, ended_at, last_error } = delivery;
  return [
    ['Id', <IdChip id={delivery_id} what="delivery" />],
    ['State', <StateBadge state={state} />],
    [
      'Target',
      <Place to="/deliveries" search={{ target_id }}>
        {target_origin}
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
    [
      'Artifact',
      <IdChip id={artifact_id} what="artifact" to={{ to: '/artifacts/$id', params: { id: artifact_id } }} />,
    ],
    ['Number', `${numberText(sequence)} of its correlation`],
    ['Created', <Time at={created_at} />],
    ['Next attempt', next_attempt_at !== undefined && state === 'pending' ? <Ago at={next_attempt_at} /> : null],
    ['Ended', ended_at === undefined ? null : <Time at={ended_at} />],
    ['Waits for', state === 'waiting' ? 'earlier deliveries of its correlation to this target' : null],
    ['Error', last_error !== undefined && state !== 'delivered' ? last_error : null],
  ];
}

function Attempts({ delivery: { attempts } }: { delivery: Delivery }): ReactNode {
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">Attempts</h3>
      {attempts.length === 0 && <p className="text-table text-muted">None has ended.</p>}
      <ol className="flex flex-col gap-2">
        {attempts.map(({ attempt, started_at, duration_ms, status, error }) => (
          <li key={started_at} className="border-l-2 border-line pl-3 text-table">
            <span className="flex flex-wrap items-baseline gap-x-3">
              <span className="font-strong">{attempt}</span>
              <Time at={started_at} />
              <span className={error === undefined ? 'text-completed' : 'text-failed'}>
                {status === undefined ? 'no answer' : `answered ${status}`}
              </span>
              <span className="text-muted">after {durationText(duration_ms)}</span>
            </span>
            {error !== undefined && status === undefined && <p className="whitespace-pre-wrap">{error}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function SendAgain({ delivery, changed }: { delivery: Delivery; changed: () => void }): ReactNode {
  const { delivery_id, target_origin, state } = delivery;
  const client = useQueryClient();
  const question = useQuestion({
    run: () =>
      answered(api.POST('/api/v1/webhooks/deliveries/{delivery_id}/redeliver', { params: { path: { delivery_id } } })),
    done: 'The delivery is sent again',
    onDone: () => {
      changed();
      return client.invalidateQueries({ queryKey: [PATH] });
    },
  });
  return (
    <>
      <button type="button" className="button-main" onClick={question.ask}>
        <Icon name="again" />
        Send again
      </button>
      <Confirm title="Send this delivery again?" action="Send 1 delivery" {...question.confirm}>
        {target_origin} gets it with the same <code className="font-mono">webhook-id</code>, and it has all its attempts
        again.{state === 'delivered' && ' The target has received it before.'}
      </Confirm>
    </>
  );
}

import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import type { Answer, Schemas } from '../../api/requests';
import { choice, useFilters } from '../../app/filters';
import { CurlButton, IdChip } from '../../components/copy';
import { ChoiceField } from '../../components/fields';
import { Icon, type IconName } from '../../components/icon';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Time } from '../../components/time';
import { countText } from '../../formats';

const PATH = '/api/v1/artifacts/{artifact_id}/explain';

type Verdict = Schemas['VerdictBody'];

type Group = 'took' | 'waits' | 'did not';

const LOOKS: Record<Group, { icon: IconName; colour: string; title: string; none: string }> = {
  took: { icon: 'check', colour: 'text-completed', title: 'Consumed by', none: 'No agent has consumed it.' },
  waits: { icon: 'waiting', colour: 'text-waiting', title: 'Waiting', none: '' },
  'did not': { icon: 'slash', colour: 'text-idle', title: 'Not consumed by', none: '' },
};

const GROUPS = Object.keys(LOOKS) as Group[];

const WAITING: readonly Verdict['verdict'][] = ['join_waiting', 'join_undecided', 'window_filling', 'not_released'];

function groupOf({ verdict }: Verdict): Group {
  if (verdict === 'triggered' || verdict === 'invoked') return 'took';
  return WAITING.includes(verdict) ? 'waits' : 'did not';
}

/** Shows what each subscription did with the artifact, and why. */
export function Verdicts({
  artifact: { id, correlation_id },
}: {
  artifact: Answer<'/api/v1/artifacts/{artifact_id}'>;
}): ReactNode {
  const params = { path: { artifact_id: id } };
  const { value, set } = useFilters({ show: choice('all', ...GROUPS) });
  const { data, error, refetch } = useApi(PATH, params, {
    live: (event) => event.event_type !== 'execution_output' && event.correlation_id === correlation_id,
  });
  const verdicts = data?.verdicts ?? [];
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows count={6} />;
    if (verdicts.length === 0) return <p className="p-3 text-table text-muted">No agent has a subscription.</p>;
    return (
      <>
        {GROUPS.filter((group) => value.show === 'all' || value.show === group).map((group) => (
          <VerdictGroup key={group} group={group} verdicts={verdicts.filter((verdict) => groupOf(verdict) === group)} />
        ))}
        {value.show === 'all' && data.cancels && <Cancels verdicts={data.cancels} />}
      </>
    );
  };
  return (
    <Section
      title="Who consumed it, and why"
      actions={
        <div className="flex flex-wrap items-end gap-2">
          <ChoiceField
            label="Subscriptions"
            value={value.show}
            choices={[
              { value: 'all', text: `all (${verdicts.length})` },
              ...GROUPS.map((group) => ({
                value: group,
                text: `${LOOKS[group].title.toLowerCase()} (${verdicts.filter((one) => groupOf(one) === group).length})`,
              })),
            ]}
            onChange={(show) => set({ show })}
          />
          <CurlButton request={{ path: PATH, params }} />
        </div>
      }
    >
      {body()}
    </Section>
  );
}

function VerdictGroup({ group, verdicts }: { group: Group; verdicts: readonly Verdict[] }): ReactNode {
  const { title, none } = LOOKS[group];
  if (verdicts.length === 0)
    return none === '' ? null : <p className="border-b border-line p-3 text-table text-muted">{none}</p>;
  return (
    <div className="-mt-px">
      <h3 className="border-y border-line bg-raised px-3 py-1 text-label text-muted">
        {title} {countText(verdicts.length, 'subscription')}
      </h3>
      <ul>
        {verdicts.map((verdict, index) => (
          <VerdictRow key={index} verdict={verdict} group={group} />
        ))}
      </ul>
    </div>
  );
}

/** Shows for each agent that the artifact's type may cancel whether it does. */
function Cancels({ verdicts }: { verdicts: readonly Schemas['CancelVerdictBody'][] }): ReactNode {
  return (
    <div className="-mt-px">
      <h3 className="border-y border-line bg-raised px-3 py-1 text-label text-muted">
        Named in cancel_on of {countText(verdicts.length, 'agent')}
      </h3>
      <ul>
        {verdicts.map(({ agent, verdict, detail }) => (
          <li key={agent} className="flex gap-3 border-b border-line px-3 py-2 text-table last:border-b-0">
            <Icon
              name={verdict === 'cancels' ? 'cross' : 'slash'}
              className={`mt-0.5 ${verdict === 'key_error' ? 'text-failed' : 'text-idle'}`}
            />
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              <div className="flex flex-wrap items-center gap-x-3">
                <Place to="/agents/$name" params={{ name: agent }}>
                  {agent}
                </Place>
                <span className="text-label text-muted">{verdict.replaceAll('_', ' ')}</span>
              </div>
              <p>{detail}</p>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

function VerdictRow({ verdict: one, group }: { verdict: Verdict; group: Group }): ReactNode {
  const { icon, colour } = LOOKS[group];
  return (
    <li className="flex gap-3 border-b border-line px-3 py-2 text-table last:border-b-0">
      <Icon name={icon} className={`mt-0.5 ${colour}`} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-x-3">
          <Place to="/agents/$name" params={{ name: one.agent }}>
            {one.agent}
          </Place>
          {one.subscription !== null && (
            <span className="text-label text-muted">subscription {one.subscription + 1}</span>
          )}
          <span className={`text-label ${colour}`}>{one.verdict.replaceAll('_', ' ')}</span>
        </div>
        <p>{one.detail}</p>
        <Facts verdict={one} />
      </div>
    </li>
  );
}

/** The values that decided a verdict. */
function Facts({ verdict: one }: { verdict: Verdict }): ReactNode {
  const facts = [
    one.execution_id !== undefined && (
      <>
        execution{' '}
        <IdChip
          id={one.execution_id}
          what="execution"
          to={{
            to: '/correlations/$id',
            params: { id: one.execution_correlation_id ?? '' },
            search: { selected: one.execution_id },
          }}
        />
      </>
    ),
    one.execution_state !== undefined && <StateBadge state={one.execution_state} />,
    one.waiting_for !== undefined && `waits for ${one.waiting_for.join(', ')}`,
    one.join_key !== undefined && (
      <>
        key <code className="font-mono">{one.join_key}</code>
      </>
    ),
    one.size !== undefined && `${one.size}${one.size_needed == null ? '' : ` of ${one.size_needed}`} artifacts`,
    one.until != null && (
      <>
        until <Time at={one.until} />
      </>
    ),
    one.error_artifact_id !== undefined && (
      <Place to="/artifacts/$id" params={{ id: one.error_artifact_id }}>
        see the error
      </Place>
    ),
  ].filter(Boolean);
  if (facts.length === 0) return null;
  return (
    <ul className="flex flex-wrap items-center gap-x-4 text-label text-muted">
      {facts.map((fact, index) => (
        <li key={index}>{fact}</li>
      ))}
    </ul>
  );
}

import { type ReactNode, useState } from 'react';

import { subscriptionText } from '../../agent-text';
import { ApiError } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { CurlButton, IdChip } from '../../components/copy';
import { type Fact, Facts } from '../../components/facts';
import { Place } from '../../components/place';
import { SidePanel } from '../../components/side-panel';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Time } from '../../components/time';
import { countText, numberText } from '../../formats';
import { changesGroups } from './changes-groups';
import { type Group, KINDS, Missing } from './group-text';

const PATH = '/api/v1/waiting/{group_id}';

const FIRST_MEMBERS = 50;
/** As many as one answer of the API may have. */
const MOST_MEMBERS = 500;

/** One join or batch window: the artifacts that have come, and what happens when the others do not come. */
export function GroupPanel({ id, close }: { id: string; close: () => void }): ReactNode {
  const [limit, setLimit] = useState(FIRST_MEMBERS);
  const params = { path: { group_id: id }, query: { limit } };
  const { data, error, refetch } = useApi(PATH, params, { live: changesGroups });
  // The answer for another group is kept while this one is read.
  const group = data?.group_id === id ? data : undefined;
  const hasEnded = error instanceof ApiError && error.status === 404;
  const body = (): ReactNode => {
    if (hasEnded && group === undefined)
      return (
        <>
          <Failure error={error} />
          <p className="text-table text-muted">
            A join or batch window is here as long as it waits. Afterwards, the pages of its artifacts say what became
            of it.
          </p>
        </>
      );
    if (group === undefined)
      return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
    return (
      <>
        {hasEnded && (
          <p className="rounded-md bg-raised p-3 text-table">
            It no longer waits: the agent has got its artifacts, or its time has passed. This is how it was before.
          </p>
        )}
        <Facts facts={factsOf(group)} />
        <div className="flex flex-wrap gap-2">
          <CurlButton request={{ path: PATH, params }} />
        </div>
        {!hasEnded && <MissingTypes group={group} />}
        <Members
          members={group.items}
          size={group.size}
          more={group.pagination.has_more && limit < MOST_MEMBERS ? () => setLimit(MOST_MEMBERS) : undefined}
        />
      </>
    );
  };
  return (
    <SidePanel title="Waiting group" close={close}>
      {body()}
    </SidePanel>
  );
}

function factsOf(group: Group): Fact[] {
  const { kind, group_id, agent, subscription, types, join_key, correlation_id, since, without_process } = group;
  const several = types.length > 0 && subscriptionText({ types, mode: kind === 'join' ? 'all' : 'any' });
  return [
    ['Kind', KINDS[kind]],
    ['Id', <IdChip id={group_id} what="group" />],
    [
      'Agent',
      <Place to="/agents/$name" params={{ name: agent }}>
        {agent}
      </Place>,
    ],
    ['Subscription', subscription === null ? several || null : `${subscription + 1}: ${several}`],
    ['Key', join_key === null ? null : <code className="font-mono text-label">{join_key}</code>],
    [
      'Correlation',
      correlation_id === null ? (
        'several'
      ) : (
        <IdChip
          id={correlation_id}
          what="correlation"
          to={{ to: '/correlations/$id', params: { id: correlation_id } }}
        />
      ),
    ],
    [
      'Waits since',
      <>
        <Time at={since} /> (<Ago at={since} />)
      </>,
    ],
    ['Waits until', <Until group={group} />],
    [
      'Process',
      without_process ? (
        <span className="text-waiting">no live process has this subscription, so nothing ends its wait</span>
      ) : null,
    ],
  ];
}

function Until({ group: { kind, until } }: { group: Group }): ReactNode {
  if (until === null)
    return kind === 'join'
      ? 'all have come; it has no time limit, and does not keep its correlation active'
      : 'it is full; it has no time limit, and does not keep its correlations active';
  return (
    <>
      <Time at={until} /> (<Ago at={until} />
      ); {kind === 'join' ? 'it is dropped then, with an error' : 'the agent runs then with what has come'}
    </>
  );
}

function MissingTypes({ group }: { group: Group }): ReactNode {
  const { kind, waiting_for, correlation_id, types } = group;
  const publishable = kind === 'join' ? waiting_for : types;
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">Missing</h3>
      <p className="text-table">
        <Missing group={group} />
      </p>
      {group.state === 'waiting' && (
        <ul className="flex flex-wrap gap-x-4 pt-1 text-table">
          {publishable.map((type) => (
            <li key={type}>
              <Place to="/publish" search={{ type, correlation_id: correlation_id ?? undefined }}>
                Publish {type}
              </Place>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface MembersProps {
  members: readonly Schemas['GroupMemberBody'][];
  size: number;
  more: (() => void) | undefined;
}

function Members({ members, size, more }: MembersProps): ReactNode {
  const rest = size - members.length;
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">Arrived: {countText(size, 'artifact')}</h3>
      <ul className="flex flex-col">
        {members.map(({ artifact_id, artifact_type, correlation_id, arrived_at }) => (
          <li
            key={artifact_id}
            className="flex min-h-8 flex-wrap items-center gap-x-3 border-b border-line text-table last:border-b-0"
          >
            <Place to="/artifacts/$id" params={{ id: artifact_id }}>
              {artifact_type}
            </Place>
            <IdChip
              id={correlation_id}
              what="correlation"
              to={{ to: '/correlations/$id', params: { id: correlation_id } }}
            />
            <span className="ml-auto text-label text-muted">
              <Ago at={arrived_at} />
            </span>
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <p className="flex items-center gap-3 pt-2 text-label text-muted">
          and {numberText(rest)} more
          {more && (
            <button type="button" className="button" onClick={more}>
              Show up to {MOST_MEMBERS}
            </button>
          )}
        </p>
      )}
    </section>
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { answered, api } from '../../api/client';
import { type Answer, get } from '../../api/requests';
import { Confirm } from '../../components/dialog';
import { Icon } from '../../components/icon';
import { OperationButton } from '../../components/operation-button';
import { Place } from '../../components/place';
import { useQuestion } from '../../components/use-question';
import { countText } from '../../formats';
import { isRegistered } from '../../views';
import { Replay } from './replay';

const WAITING = '/api/v1/correlations/{correlation_id}/waiting';

export interface ActionsProps {
  id: string;
  state: string;
  isReplay: boolean;
  /** The correlation that it replays. A trial of an experiment may have none. */
  original: string | undefined;
  hasFailed: boolean;
  onOperation: (operationId: string) => void;
}

export function Actions({ id, state, isReplay, original, hasFailed, onOperation }: ActionsProps): ReactNode {
  return (
    <>
      {isRegistered('/publish') && !isReplay && (
        <Place to="/publish" search={{ correlation_id: id }} className="button">
          <Icon name="publish" />
          Publish into it
        </Place>
      )}
      <Place
        to="/compare"
        search={original === undefined ? { left: id } : { left: original, right: id }}
        className="button"
      >
        <Icon name="compare" />
        Compare
      </Place>
      {hasFailed && state !== 'cancelled' && (
        <OperationButton kind="retry" filter={() => ({ correlation_id: id })} text="Retry failed" onStart={onOperation}>
          All failed executions of this correlation run again on the same inputs, with all attempts of their agents.
        </OperationButton>
      )}
      {state === 'active' ? <Cancel id={id} /> : <Replay key={id} id={id} />}
    </>
  );
}

function Cancel({ id }: { id: string }): ReactNode {
  const client = useQueryClient();
  const path = { correlation_id: id };
  const question = useQuestion({
    run: () => answered(api.POST('/api/v1/correlations/{correlation_id}/cancel', { params: { path } })),
    done: 'The correlation is cancelled',
    onDone: () => client.invalidateQueries(),
  });
  const { data, error, isFetching } = useQuery({
    queryKey: ['count before cancel', id],
    queryFn: ({ signal }) => get(WAITING, { path, query: { limit: 1 } }, signal),
    enabled: question.isOpen,
    staleTime: 0,
    gcTime: 0,
    placeholderData: undefined,
  });
  const open = isFetching ? undefined : data && openExecutions(data);
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        <Icon name="slash" />
        Cancel
      </button>
      <Confirm
        title="Cancel this correlation?"
        action="Cancel the correlation"
        {...question.confirm}
        error={question.confirm.error ?? error}
      >
        {open === undefined ? 'Its executions' : `${countText(open, 'execution')} of it`} {open === 1 ? 'is' : 'are'}{' '}
        pending or running. None of them will end with a result, and the correlation takes no further artifacts.
      </Confirm>
    </>
  );
}

const WITHOUT_EXECUTION: readonly string[] = ['release', 'deadline', 'join', 'window'];

/** Returns the number of executions that are pending or running. */
const openExecutions = ({ counts = {} as never }: Answer<typeof WAITING>): number =>
  Object.entries(counts)
    .filter(([kind]) => !WITHOUT_EXECUTION.includes(kind))
    .reduce((sum, [, count]) => sum + count, 0);

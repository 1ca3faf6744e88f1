import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { answered, api, ApiError } from '../../api/client';
import { useApi } from '../../api/queries';
import { CurlButton, IdChip } from '../../components/copy';
import { Confirm } from '../../components/dialog';
import { type Fact, Facts } from '../../components/facts';
import { Place } from '../../components/place';
import { SidePanel } from '../../components/side-panel';
import { Failure, LoadingRows } from '../../components/states';
import { Ago } from '../../components/time';
import { useQuestion } from '../../components/use-question';
import { ChangeDialog } from './change-dialog';
import { KeyList } from './key-list';
import { countedText, type Limit, MOST_WAITING, usedText, usedUnitsText, valuesText } from './limit-text';

const PATH = '/api/v1/limits/{limit_name}';

const EVERY_MS = 3_000;

interface LimitPanelProps {
  name: string;
  close: () => void;
  /** The limit has other values. */
  changed: () => void;
}

/** One limit: its values, which can be changed, and who waits for it. */
export function LimitPanel({ name, close, changed }: LimitPanelProps): ReactNode {
  const params = { path: { limit_name: name } };
  const { data, error, refetch } = useApi(PATH, params, { pollMs: EVERY_MS });
  // The answer for another limit is kept while this one is read.
  const limit = data?.name === name ? data : undefined;
  const isGone = error instanceof ApiError && error.status === 404;
  const body = (): ReactNode => {
    if (limit === undefined || isGone)
      return error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />;
    return (
      <>
        <Facts facts={factsOf(limit)} />
        <div className="flex flex-wrap gap-2">
          {limit.file !== null && <Change limit={limit} changed={changed} />}
          {limit.set_at !== null && <Undo limit={limit} changed={changed} gone={close} />}
          <CurlButton request={{ path: PATH, params }} />
        </div>
        <KeyList limit={limit} />
      </>
    );
  };
  return (
    <SidePanel title="Limit" close={close}>
      {body()}
    </SidePanel>
  );
}

function factsOf(limit: Limit): Fact[] {
  const { name, concurrency, units, hold, set_at, file, agents, waiting, longest } = limit;
  return [
    ['Name', name],
    ['Allows', valuesText(limit)],
    ['Held', hold ? 'until an execution ends, also while it waits' : null],
    ['One costs', units === null ? null : <code className="font-mono text-label">{units}</code>],
    ['In the file', set_at === null ? null : file === null ? 'no longer, so it limits nothing' : valuesText(file)],
    ['Changed', set_at === null ? null : <Ago at={set_at} />],
    ['Used', usedText(limit)],
    ['Used of the burst', concurrency === null ? null : usedUnitsText(limit)],
    ['Waiting', countedText(waiting, MOST_WAITING)],
    [
      'Longest',
      longest === null ? null : (
        <span className="flex flex-wrap items-baseline gap-x-3">
          <span>
            {longest.agent}, <Ago at={longest.queued_at} />
          </span>
          <IdChip
            id={longest.correlation_id}
            what="correlation"
            to={{ to: '/correlations/$id', params: { id: longest.correlation_id } }}
          />
        </span>
      ),
    ],
    [
      'Agents',
      agents.length === 0 ? (
        'none'
      ) : (
        <ul>
          {agents.map(({ agent, key }) => (
            <li key={agent} className="flex flex-wrap gap-x-3">
              <Place to="/agents/$name" params={{ name: agent }}>
                {agent}
              </Place>
              {key !== null && <code className="font-mono text-label">{key}</code>}
            </li>
          ))}
        </ul>
      ),
    ],
  ];
}

interface ChangeProps {
  limit: Limit;
  changed: () => void;
}

function Change({ limit, changed }: ChangeProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const client = useQueryClient();
  return (
    <>
      <button type="button" className="button-main" onClick={() => setIsOpen(true)}>
        Change it
      </button>
      <ChangeDialog
        limit={limit}
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        onDone={() => {
          changed();
          return client.invalidateQueries({ queryKey: [PATH] });
        }}
      />
    </>
  );
}

/** `gone`: the limit does not exist any more. */
function Undo({ limit: { name, file }, changed, gone }: ChangeProps & { gone: () => void }): ReactNode {
  const client = useQueryClient();
  const question = useQuestion({
    run: () => answered(api.DELETE('/api/v1/limits/{limit_name}', { params: { path: { limit_name: name } } })),
    done: file === null ? `The values of ${name} are deleted` : `${name} has the values of the file`,
    onDone: () => {
      changed();
      if (file === null) return gone();
      return client.invalidateQueries({ queryKey: [PATH] });
    },
  });
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        Undo the change
      </button>
      {file === null ? (
        <Confirm title={`Delete the values of ${name}?`} action="Delete them" {...question.confirm}>
          The configuration file no longer has this limit, so it limits nothing.
        </Confirm>
      ) : (
        <Confirm title={`Undo the change of ${name}?`} action="Use the values of the file" {...question.confirm}>
          Its values are then those of the configuration file, in all processes: {valuesText(file)}.
        </Confirm>
      )}
    </>
  );
}

import type { ReactNode } from 'react';

import { IdChip } from '../../components/copy';
import { Icon, type IconName } from '../../components/icon';
import { CELL, ROW, Table } from '../../components/table';
import { countText, durationText, unreversedText } from '../../formats';
import type { Pair } from './comparison';

type Artifact = NonNullable<Pair['left']>;
type Change = Pair['changes'][number];

/** A result is never shown by colour alone. */
const RESULTS: Record<Pair['result'], { icon: IconName; colour: string; words: string }> = {
  equal: { icon: 'check', colour: 'text-completed', words: 'equal' },
  changed: { icon: 'forward', colour: 'text-waiting', words: 'changed' },
  only_left: { icon: 'minus', colour: 'text-failed', words: 'only left' },
  only_right: { icon: 'plus', colour: 'text-running', words: 'only right' },
};

/** Two artifacts of one type and producer, or one without a counterpart, and what differs between their payloads. */
export function PairOfArtifacts({ pair }: { pair: Pair }): ReactNode {
  const { result, type, produced_by, moved, left, right, changes, changes_left_off } = pair;
  const { icon, colour, words } = RESULTS[result];
  return (
    <li className="flex flex-col gap-2 border-b border-line p-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
        <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${colour}`}>
          <Icon name={icon} />
          {words}
        </span>
        <span className="font-strong">{type}</span>
        <span className="text-muted">{produced_by === 'external' ? 'by a client' : `by ${produced_by}`}</span>
        {moved && <span className="text-muted">at another place in the cascade</span>}
      </div>
      <div className="grid gap-x-4 gap-y-1 sm:grid-cols-2">
        <Side name="Left" artifact={left} />
        <Side name="Right" artifact={right} />
      </div>
      {changes.length > 0 && (
        <Table label={`Changes of ${type}`} columns={['Place', 'Left', 'Right']} width="min-w-120 table-fixed">
          {changes.map((change) => (
            <ChangeRow key={`${change.op} ${change.path}`} change={change} />
          ))}
        </Table>
      )}
      {changes_left_off > 0 && (
        <p className="text-table text-muted">{countText(changes_left_off, 'further change')} not shown.</p>
      )}
    </li>
  );
}

function Side({ name, artifact }: { name: string; artifact: Artifact | undefined }): ReactNode {
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2 text-label text-muted">
      {name}
      {artifact === undefined ? (
        <span>nothing</span>
      ) : (
        <>
          <IdChip id={artifact.id} what="artifact" to={{ to: '/artifacts/$id', params: { id: artifact.id } }} />
          {artifact.execution && <span>{tookText(artifact.execution)}</span>}
        </>
      )}
    </p>
  );
}

const tookText = ({ attempts, duration_ms }: NonNullable<Artifact['execution']>): string =>
  [countText(attempts, 'attempt'), duration_ms === null ? undefined : durationText(duration_ms)]
    .filter((part) => part !== undefined)
    .join(', ');

function ChangeRow({ change }: { change: Change }): ReactNode {
  const { path, left, right, shortened } = change;
  return (
    <tr className={ROW}>
      <td className={`${CELL} font-mono break-words`}>{path === '' ? 'the payload' : unreversedText(path)}</td>
      <Value json={left} colour="text-failed" isShortened={shortened} />
      <Value json={right} colour="text-completed" isShortened={shortened} />
    </tr>
  );
}

interface ValueProps {
  json: string | undefined;
  colour: string;
  isShortened: boolean | undefined;
}

function Value({ json, colour, isShortened = false }: ValueProps): ReactNode {
  if (json === undefined) return <td className={`${CELL} text-muted`}>absent</td>;
  return (
    <td className={`${CELL} font-mono break-words ${colour}`}>
      {unreversedText(json)}
      {isShortened && '…'}
    </td>
  );
}

import type { ReactNode } from 'react';

import { Place } from '../../components/place';
import { CELL, ROW, Table } from '../../components/table';
import { costText, durationText, numberText } from '../../formats';
import type { ComparedAgent } from './comparison';

type Totals = NonNullable<ComparedAgent['left']>;

/** A figure as text; undefined if the agent has none there. */
type Figure = (totals: Totals) => string | undefined;

const FIGURES: readonly [title: string, figure: Figure][] = [
  ['Executions', ({ executions }) => numberText(executions)],
  ['Failed', ({ failed }) => numberText(failed)],
  ['Attempts', ({ attempts }) => numberText(attempts)],
  ['Took', ({ duration_ms }) => durationText(duration_ms)],
  ['Tokens', ({ usage }) => usage && numberText(usage.input_tokens + usage.output_tokens)],
  ['Cost', ({ usage }) => (usage?.cost === undefined ? undefined : costText(usage.cost))],
];

/** Shows what the executions of each agent add up to on both sides. A figure that differs has both values. */
export function AgentTotals({ agents }: { agents: readonly ComparedAgent[] }): ReactNode {
  if (agents.length === 0) return <p className="p-3 text-table text-muted">No agent ran on either side.</p>;
  return (
    <Table
      label="Agents"
      columns={['Agent', ...FIGURES.map(([title]) => title)]}
      numbers={FIGURES.length}
      width="min-w-160"
    >
      {agents.map(({ agent, left, right }) => (
        <tr key={agent} className={ROW}>
          <td className={CELL}>
            <Place to="/agents/$name" params={{ name: agent }}>
              {agent}
            </Place>
          </td>
          {FIGURES.map(([title, figure]) => (
            <Both key={title} left={left && figure(left)} right={right && figure(right)} />
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Both({ left, right }: { left: string | undefined; right: string | undefined }): ReactNode {
  return (
    <td className={`${CELL} text-right whitespace-nowrap tabular-nums`}>
      {left === right ? (
        (left ?? <span className="text-muted">–</span>)
      ) : (
        <span className="font-strong">
          {left ?? 'none'} → {right ?? 'none'}
        </span>
      )}
    </td>
  );
}

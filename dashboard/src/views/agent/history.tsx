import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { CurlButton } from '../../components/copy';
import { Section } from '../../components/section';
import { Failure, LoadingRows } from '../../components/states';
import { Time } from '../../components/time';
import { costText, countText, numberText, shareText } from '../../formats';
import { HISTORY_PATH, historyParams, useHistory } from './use-history';

const HOURS_SHOWN = 24;

/** Shows what an agent has done, in total and by the hour. */
export function History({ agent }: { agent: string }): ReactNode {
  const { data, error, refetch } = useHistory(agent);
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows count={3} />;
    return <Summary summary={data.summary} />;
  };
  return (
    <Section title="History" actions={<CurlButton request={{ path: HISTORY_PATH, params: historyParams(agent) }} />}>
      {body()}
    </Section>
  );
}

function Summary({ summary }: { summary: Schemas['HistoryContent'] }): ReactNode {
  const { total_executions, total_artifacts_consumed, total_artifacts_produced, execution_timeline, usage } = summary;
  const hours = Object.entries(execution_timeline)
    .sort(([one], [other]) => other.localeCompare(one))
    .slice(0, HOURS_SHOWN);
  const most = Math.max(1, ...hours.map(([, { executions }]) => executions));
  const facts = [
    countText(total_executions, 'ended execution'),
    `${countText(total_artifacts_consumed, 'artifact')} consumed`,
    `${numberText(total_artifacts_produced)} published`,
    usage && `${numberText(usage.input_tokens + usage.output_tokens)} tokens`,
    usage?.cost !== undefined && `a cost of ${costText(usage.cost)}`,
  ].filter(Boolean);
  return (
    <>
      <p className="p-3 text-table text-muted">{facts.join(', ')}</p>
      {hours.length > 0 && (
        <table className="w-full border-t border-line text-table">
          <caption className="sr-only">Executions by the hour in which they ended, newest first</caption>
          <thead className="text-label text-muted">
            <tr>
              {['Hour', 'Executions', 'Failed'].map((title, index) => (
                <th
                  key={title}
                  scope="col"
                  className={`px-3 py-2 font-normal ${index === 2 ? 'text-right' : 'text-left'}`}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {hours.map(([hour, { executions, failures }]) => (
              <tr key={hour} className="border-t border-line">
                <td className="px-3 py-1.5">
                  <Time at={hour} />
                </td>
                <td className="w-1/2 px-3 py-1.5">
                  <span className="flex items-center gap-2">
                    <span className="w-12 text-right">{numberText(executions)}</span>
                    <span className="flex h-2 flex-1" aria-hidden>
                      <span
                        className="rounded-md bg-completed"
                        style={{ width: `${((executions - failures) / most) * 100}%` }}
                      />
                      <span className="rounded-md bg-failed" style={{ width: `${(failures / most) * 100}%` }} />
                    </span>
                  </span>
                </td>
                <td className="px-3 py-1.5 text-right">
                  {failures > 0 ? (
                    <span className="text-failed">{`${numberText(failures)} (${shareText(failures / executions)})`}</span>
                  ) : (
                    '0'
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

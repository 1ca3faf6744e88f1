import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { CurlButton } from '../../components/copy';
import { Section } from '../../components/section';
import { Failure, LoadingRows } from '../../components/states';
import { CELL, ROW, Table } from '../../components/table';
import { Ago } from '../../components/time';
import { costText, countText, durationText, numberText, shareText } from '../../formats';
import { HISTORY_PATH, historyParams, useHistory } from './use-history';

const COLUMNS = ['Variant', 'Share', 'Executions', 'Failed', 'p50', 'p95', 'Cost each'];

/** Shares of the configuration are hundredths of a percent. Their sums have further digits. */
const exactText = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

type Configured = Schemas['VariantsBody'];
type History = Schemas['VariantHistoryBody'];

/** Compares the last executions of the variants of an agent, and of the options that the agent itself has. */
export function Variants({ agent, variants }: { agent: string; variants: Configured }): ReactNode {
  const { data, error, refetch } = useHistory(agent);
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows count={3} />;
    return <Comparison variants={variants} histories={data.summary.by_variant ?? []} />;
  };
  return (
    <Section title="Variants" actions={<CurlButton request={{ path: HISTORY_PATH, params: historyParams(agent) }} />}>
      <p className="border-b border-line p-3 text-table text-muted">{ruleText(variants)}</p>
      {body()}
    </Section>
  );
}

function Comparison({ variants, histories }: { variants: Configured; histories: readonly History[] }): ReactNode {
  const rest = 1 - variants.items.reduce((sum, { share }) => sum + share, 0);
  return (
    <Table label="The last executions of each variant" columns={COLUMNS} numbers={COLUMNS.length - 1} width="min-w-140">
      {histories.map((history) => {
        const variant = variants.items.find(({ name }) => name === history.name);
        return <Row key={history.name} history={history} variant={variant} rest={rest} />;
      })}
    </Table>
  );
}

interface RowProps {
  history: History;
  /** Undefined for the agent's own options. */
  variant: Configured['items'][number] | undefined;
  /** The share of the agent's own options. */
  rest: number;
}

function Row({ history, variant, rest }: RowProps): ReactNode {
  const { name, executions, failures, duration_ms, usage } = history;
  const cells = [
    exactText(variant?.share ?? rest),
    numberText(executions),
    failures === 0 ? '0' : `${numberText(failures)} (${shareText(failures / executions)})`,
    duration_ms === null ? '' : durationText(duration_ms.p50),
    duration_ms === null ? '' : durationText(duration_ms.p95),
    usage?.cost === undefined || executions === 0 ? '' : costText(usage.cost / executions),
  ];
  return (
    <tr className={ROW}>
      <th scope="row" className={`${CELL} text-left font-normal`}>
        {name}{' '}
        {variant?.rolled_back_at && (
          <span className="pl-1 text-label text-failed">
            rolled back <Ago at={variant.rolled_back_at} />
          </span>
        )}
      </th>
      {cells.map((cell, index) => (
        <td key={COLUMNS[index + 1]} className={`${CELL} text-right whitespace-nowrap tabular-nums`}>
          {cell}
        </td>
      ))}
    </tr>
  );
}

function ruleText({ rollback }: Configured): string {
  if (rollback === null) return 'No variant is rolled back by failures.';
  const { failures, of } = rollback;
  return `A variant is rolled back when ${numberText(failures)} of its last ${countText(of, 'attempt')} have failed.`;
}

import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { CurlButton } from '../../components/copy';
import { Section } from '../../components/section';
import { Failure, LoadingRows } from '../../components/states';
import { Ago } from '../../components/time';
import { costText, countText, durationText, numberText, shareText } from '../../formats';
import { HISTORY_PATH, historyParams, useHistory } from './use-history';

const TITLES = ['Variant', 'Share', 'Executions', 'Failed', 'Half took', '95 % took', 'Cost each'];

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
    return <Table variants={variants} histories={data.summary.by_variant ?? []} />;
  };
  return (
    <Section title="Variants" actions={<CurlButton request={{ path: HISTORY_PATH, params: historyParams(agent) }} />}>
      <p className="p-3 text-table text-muted">{ruleText(variants)}</p>
      {body()}
    </Section>
  );
}

function Table({ variants, histories }: { variants: Configured; histories: readonly History[] }): ReactNode {
  const rest = 1 - variants.items.reduce((sum, { share }) => sum + share, 0);
  return (
    <table className="w-full border-t border-line text-table">
      <caption className="sr-only">The last executions of each variant</caption>
      <thead className="text-label text-muted">
        <tr>
          {TITLES.map((title, index) => (
            <th key={title} scope="col" className={`px-3 py-2 font-normal ${index === 0 ? 'text-left' : 'text-right'}`}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {histories.map((history) => {
          const variant = variants.items.find(({ name }) => name === history.name);
          return <Row key={history.name} history={history} variant={variant} rest={rest} />;
        })}
      </tbody>
    </table>
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
  const { name, executions, failures, p50_ms, p95_ms, usage } = history;
  const cells = [
    exactText(variant?.share ?? rest),
    numberText(executions),
    failures === 0 ? '0' : `${numberText(failures)} (${shareText(failures / executions)})`,
    p50_ms === null ? '' : durationText(p50_ms),
    p95_ms === null ? '' : durationText(p95_ms),
    usage?.cost === undefined || executions === 0 ? '' : costText(usage.cost / executions),
  ];
  return (
    <tr className="border-t border-line">
      <th scope="row" className="px-3 py-1.5 text-left font-normal">
        {name}{' '}
        {variant?.rolled_back_at && (
          <span className="pl-1 text-label text-failed">
            rolled back <Ago at={variant.rolled_back_at} />
          </span>
        )}
      </th>
      {cells.map((cell, index) => (
        <td key={TITLES[index + 1]} className="px-3 py-1.5 text-right">
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

import type {
  AgentTotalsBody,
  ComparedAgentBody,
  ComparedPairBody,
  ComparisonBody,
  PayloadChangeBody,
} from '../../../features/compare/dto/comparison-body.js';
import type { UsageBody } from '../../../http/dto/usage-body.js';
import type { Output } from '../printing/output.js';
import { oneLine } from '../printing/safe-text.js';
import { type Column, type Style, tableLines } from '../printing/table.js';
import { count, countOf, cut, elapsed } from '../printing/texts.js';

type Side = 'left' | 'right';

const RESULTS = {
  equal: { text: 'equal', style: 'dim' },
  changed: { text: 'changed', style: 'yellow' },
  only_left: { text: 'only left', style: 'red' },
  only_right: { text: 'only right', style: 'green' },
} as const satisfies Record<ComparedPairBody['result'], { text: string; style: Style }>;

/** The lines for people: both correlations, their agents, and their pairs with the changes below each. */
export function comparisonLines(comparison: ComparisonBody, output: Output): string[] {
  const look = { width: output.width, paint: output.paint };
  const agents = tableLines(comparison.agents, AGENT_COLUMNS, look);
  const [titles, ...rows] = tableLines(comparison.items, PAIR_COLUMNS, look);
  const pairs = comparison.items.flatMap((pair, index) => [rows[index]!, ...changeLines(pair, output)]);
  return [
    ...(['left', 'right'] as const).map((side) => summaryOf(comparison, side, output)),
    summaryOfPairs(comparison),
    ...(agents.length > 0 ? ['', ...agents] : []),
    ...(titles === undefined ? [] : ['', titles, ...pairs]),
  ];
}

function summaryOf(comparison: ComparisonBody, side: Side, output: Output): string {
  const { correlation_id, state, artifact_count, error_count, duration_ms, usage } = comparison[side];
  const rest = [
    state,
    countOf(artifact_count, 'artifact'),
    countOf(error_count, 'error'),
    ...(duration_ms === null ? [] : [`took ${elapsed(duration_ms)}`]),
    ...(usage ? [countOf(tokensOf(usage), 'token')] : []),
    ...(usage?.cost === undefined ? [] : [`cost ${usage.cost}`]),
  ];
  return `${side.padEnd('right'.length)}  ${output.paint('bold', oneLine(correlation_id))} ${rest.join(', ')}`;
}

const summaryOfPairs = ({ paired, only_left, only_right, items }: ComparisonBody): string => {
  const changed = items.filter(({ result }) => result === 'changed').length;
  return `${countOf(paired, 'pair')}, ${count(changed)} changed, ${count(only_left)} only left, ${count(only_right)} only right`;
};

const tokensOf = ({ input_tokens, output_tokens }: UsageBody): number => input_tokens + output_tokens;

const both = <T>(
  { left, right }: Partial<Record<Side, T>>,
  of: (side: T) => string | number | null | undefined,
): string | null => {
  const [one, other] = [left, right].map((side) => (side && of(side)) ?? null);
  if (one === other) return one === null ? null : String(one);
  return `${one ?? '-'} → ${other ?? '-'}`;
};

const AGENT_COLUMNS: Column<ComparedAgentBody>[] = [
  { title: 'AGENT', of: ({ agent }) => agent },
  { title: 'EXECUTIONS', of: (agent) => both(agent, ({ executions }) => executions), isRight: true },
  { title: 'FAILED', of: (agent) => both(agent, ({ failed }) => failed || null), isRight: true },
  { title: 'ATTEMPTS', of: (agent) => both(agent, ({ attempts }) => attempts), isRight: true },
  { title: 'TOOK', of: (agent) => both(agent, ({ duration_ms }) => elapsed(duration_ms)), isRight: true },
  { title: 'TOKENS', of: (agent) => both(agent, tokensUsed), isRight: true },
  { title: 'COST', of: (agent) => both(agent, ({ usage }) => usage?.cost), isRight: true },
];

const tokensUsed = ({ usage }: AgentTotalsBody): string | null => (usage ? count(tokensOf(usage)) : null);

const PAIR_COLUMNS: Column<ComparedPairBody>[] = [
  {
    title: 'RESULT',
    of: ({ result, moved }) => `${RESULTS[result].text}${moved ? ', moved' : ''}`,
    style: ({ result }) => RESULTS[result].style,
  },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'PRODUCED BY', of: ({ produced_by }) => produced_by },
  { title: 'LEFT', of: ({ left }) => left?.id ?? null, style: () => 'dim' },
  { title: 'RIGHT', of: ({ right }) => right?.id ?? null, style: () => 'dim' },
];

const changeLines = (pair: ComparedPairBody, output: Output): string[] => [
  ...pair.changes.map((change) => output.paint('yellow', cut(`  ${changeText(change)}`, output.width))),
  ...(pair.changes_left_off > 0 ? [`  and ${count(pair.changes_left_off)} more`] : []),
];

function changeText({ op, path, left, right }: PayloadChangeBody): string {
  const place = path === '' ? 'payload' : path;
  if (op === 'add') return oneLine(`${place}: only right: ${right}`);
  if (op === 'remove') return oneLine(`${place}: only left: ${left}`);
  return oneLine(`${place}: ${left} → ${right}`);
}

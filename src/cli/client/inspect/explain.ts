import type {
  CancelVerdictBody,
  ExplanationBody,
  VerdictBody,
} from '../../../features/artifacts/dto/explanation-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { findOrAdvise, idIn, orAdvise } from '../look-up.js';
import { oneLine } from '../printing/safe-text.js';
import type { Column, Style } from '../printing/table.js';

/** Prints why each subscription reacted to an artifact, or did not, and whose executions it cancels: one sentence for each. */
export async function explain(id: string, agent: string | undefined, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const answer = server.get<ExplanationBody>(idIn('/api/v1/artifacts/{id}/explain', id));
  const explanation = await orAdvise(server, 'artifact', id, answer);
  const isAsked = (verdict: { agent: string }): boolean => agent === undefined || verdict.agent === agent;
  const verdicts = explanation.verdicts.filter(isAsked);
  const cancels = explanation.cancels?.filter(isAsked);
  // The answer also has agents that are not in the configuration any more.
  if (agent !== undefined && verdicts.length === 0) await findOrAdvise(server, 'agent', agent);
  if (!output.isForPeople) return output.json({ ...explanation, verdicts, ...(cancels && { cancels }) });
  await output.lines([
    oneLine(`${explanation.type} of ${explanation.produced_by}, in the correlation ${explanation.correlation_id}`),
    '',
  ]);
  if (verdicts.length === 0)
    output.hint(agent === undefined ? 'the configuration has no agents' : `${agent} subscribes to nothing`);
  // A sentence that is cut does not help, so the terminal wraps it.
  await output.table(verdicts, COLUMNS, Infinity);
  if (!cancels?.length) return;
  await output.lines(['']);
  await output.table(cancels, CANCEL_COLUMNS, Infinity);
}

const STYLES: Partial<Record<VerdictBody['verdict'], Style>> = {
  triggered: 'green',
  invoked: 'green',
  join_waiting: 'yellow',
  join_undecided: 'yellow',
  window_filling: 'yellow',
  not_released: 'yellow',
  where_error: 'red',
  key_error: 'red',
  join_expired: 'red',
  limit: 'red',
};

const COLUMNS: Column<VerdictBody>[] = [
  { title: 'AGENT', of: ({ agent }) => agent, style: () => 'bold' },
  // Most agents have one subscription.
  { title: 'SUBSCRIPTION', of: ({ subscription }) => subscription || null, isRight: true },
  { title: 'VERDICT', of: ({ verdict }) => verdict, style: ({ verdict }) => STYLES[verdict] ?? 'dim' },
  { title: 'WHY', of: ({ detail }) => detail },
];

const CANCEL_COLUMNS: Column<CancelVerdictBody>[] = [
  { title: 'CANCEL_ON OF', of: ({ agent }) => agent, style: () => 'bold' },
  {
    title: 'VERDICT',
    of: ({ verdict }) => verdict,
    style: ({ verdict }) => (verdict === 'key_error' ? 'red' : verdict === 'cancels' ? 'yellow' : 'dim'),
  },
  { title: 'WHY', of: ({ detail }) => detail },
];

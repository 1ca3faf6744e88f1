import type { AgentBody, AgentsBody, SubscriptionBody } from '../../../features/agents/dto/agents-body.js';
import type { HistoryBody } from '../../../features/agents/dto/history-body.js';
import type { ProcessesBody } from '../../../features/processes/dto/processes-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { findOrAdvise } from '../look-up.js';
import type { Field } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { count, countOf } from '../printing/texts.js';
import type { Server } from '../server.js';

/** An agent, and what the live processes do for it. */
interface Agent extends AgentBody {
  running: number;
  /** How many live processes have it. */
  processes: number;
}

/** Prints the configured agents, or one of them with its options and totals. */
export async function showAgents(name: string | undefined, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  if (name !== undefined) {
    const { summary } = await findOrAdvise<HistoryBody>(server, 'agent', name);
    const agent = { ...(await agentsOf(server)).find((one) => one.name === name)!, ...summary };
    return output.thing(agent, () => fieldsOf(agent));
  }
  const agents = await agentsOf(server);
  if (!output.isForPeople) return output.jsonLines(agents);
  if (agents.length === 0) output.hint('the configuration of the server has no agents');
  await output.table(agents, COLUMNS);
}

async function agentsOf(server: Server): Promise<Agent[]> {
  const [{ agents }, { processes }] = await Promise.all([
    server.get<AgentsBody>('/api/v1/agents'),
    server.get<ProcessesBody>('/api/v1/processes'),
  ]);
  return agents.map((agent) => ({
    ...agent,
    running: processes.reduce((sum, { running }) => sum + (running[agent.name] ?? 0), 0),
    processes: processes.filter((process) => process.agents.includes(agent.name)).length,
  }));
}

const COLUMNS: Column<Agent>[] = [
  { title: 'AGENT', of: ({ name }) => name, style: () => 'bold' },
  { title: 'STATE', of: stateOf, style: (agent) => (stateOf(agent) === 'active' ? 'green' : 'yellow') },
  { title: 'ENGINE', of: engineOf },
  { title: 'WAITING', of: ({ waiting }) => count(waiting), isRight: true },
  { title: 'RUNNING', of: ({ running }) => count(running), isRight: true },
  {
    title: 'CONSUMES → PUBLISHES',
    of: ({ subscriptions, outputs }) => `${subscriptions.map(textOf).join(', ')} → ${outputs.join(', ') || 'nothing'}`,
  },
];

function stateOf({ paused, processes }: Agent): string {
  if (paused) return 'paused';
  return processes > 0 ? 'active' : 'no process';
}

function engineOf({ engine: { kind, model } }: Agent): string {
  return model === null ? kind : `${kind} ${model}`;
}

/** `A + B` for a join, `A | B` for any of them, `A ×25` for a batch window. */
const textOf = ({ types, mode, window }: SubscriptionBody): string =>
  `${types.join(mode === 'all' ? ' + ' : ' | ')}${window ? ` ×${window.size}` : ''}`;

/** A line for each variant, and first for the agent's own options. Empty if the agent has none. */
function variantsText({ variants, by_variant = [] }: Agent & HistoryBody['summary']): string {
  const lines = by_variant.map(({ name, executions, failures }) => {
    const since = variants?.items.find((variant) => variant.name === name)?.rolled_back_at ?? null;
    const rolledBack = since === null ? '' : `, rolled back at ${since}`;
    return `${name}: ${countOf(executions, 'execution')}, ${count(failures)} failed${rolledBack}`;
  });
  return lines.join('\n');
}

function fieldsOf(agent: Agent & HistoryBody['summary']): Field[] {
  const { description, subscriptions, outputs, options } = agent;
  return [
    ['agent', agent.name],
    ['description', description],
    ['state', stateOf(agent)],
    ['engine', engineOf(agent)],
    ['consumes', subscriptions.map(textOf).join('\n')],
    ['publishes', outputs.join(', ') || 'nothing'],
    ['waiting', count(agent.waiting)],
    ['running', `${count(agent.running)} of at most ${count(options.concurrency)}`],
    ['ended', countOf(agent.total_executions, 'execution')],
    ['variants', variantsText(agent)],
    ['timeout', `${options.timeout_ms / 1_000} s`],
    ['attempts', options.retry.attempts],
    ['labels', options.labels.join(', ')],
    ['tenant', options.tenant_id],
  ];
}

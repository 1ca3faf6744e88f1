import type { TraceBody, TracedExecutionBody } from '../../../features/correlations/dto/trace-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import type { Output } from '../printing/output.js';
import { oneLine } from '../printing/safe-text.js';
import { type Column, tableLines } from '../printing/table.js';
import { between, count, countOf, cut, elapsed, toTheSecond } from '../printing/texts.js';
import { typedCommand } from '../typed-command.js';
import { correlationOf, traceOf } from './find-trace.js';
import { limitOf } from './list.js';
import { reasonOf, type Wait, waitsOf } from './reasons-to-wait.js';
import { styleOfState } from './states.js';
import { errorsOf, inputsOf, originsOf } from './trace-notes.js';
import { type Branch, treeOf } from './trace-tree.js';

const DEFAULT_LIMIT = 500;
const MOST_WAITS = 500;

/** The columns of a terminal that the tree has at least, and what the times and the id beside it usually take. */
const LEAST_TREE = 40;
const BESIDE_TREE = 71;

/** Prints the cascade to which an artifact, an execution or a run belongs, as a tree. */
export async function showTrace(id: string, { limit, ...options }: ClientOptions & { limit?: string }): Promise<void> {
  const { server, output } = connectionOf(options);
  const most = limitOf(limit, DEFAULT_LIMIT);
  const correlation = await correlationOf(server, id);
  const trace = await traceOf(server, correlation, most);
  if (!output.isForPeople) return output.json(trace);
  const waits: Wait[] = [];
  for await (const { items } of waitsOf(server, correlation, MOST_WAITS)) waits.push(...items);
  await output.lines([summaryOf(trace, output), '', ...linesOf(trace, waits, id, output), ...remaining(waits, output)]);
  if (trace.truncated)
    output.hint(`These are the first ${count(most)} of ${count(trace.artifact_count)} artifacts; --limit shows more`);
  // A shadow replay would end it in the same way if its agent did not run.
  const failed = trace.executions.find(
    ({ state, replay }) => state === 'failed' && (trace.replay_mode !== 'shadow' || replay === 'run'),
  );
  if (failed) output.hint(`To run a failed execution again: ${typedCommand(server.url, 'retry', failed.id)}`);
}

function summaryOf(trace: TraceBody, output: Output): string {
  const end = trace.settled_at === null ? null : `took ${between(trace.started_at, trace.settled_at)}`;
  const rest = [
    trace.state,
    countOf(trace.artifact_count, 'artifact'),
    countOf(trace.error_count, 'error'),
    `started at ${trace.started_at}`,
    ...(end === null ? [] : [end]),
  ];
  return `${output.paint('bold', oneLine(trace.correlation_id))} ${oneLine(rest.join(', '))}`;
}

/** The lines of the tree. Errors of an execution, what ended or answered it, and what it waits for, are on separate lines below it. */
function linesOf(trace: TraceBody, waits: readonly Wait[], asked: string, output: Output): string[] {
  const branches = treeOf(trace);
  // An id that is cut cannot be used, so the terminal wraps it.
  const look = { width: Infinity, paint: output.paint };
  const [titles, ...rows] = tableLines(branches, columnsOf(trace, asked, output.width), look);
  return [titles!, ...branches.flatMap((branch, index) => [rows[index]!, ...notesOf(branch, waits, output)])];
}

function columnsOf(trace: TraceBody, asked: string, width: number): Column<Branch>[] {
  const at = (time: string): string => elapsed(Math.max(0, Date.parse(time) - Date.parse(trace.started_at)));
  const idOf = (branch: Branch): string => ('artifact' in branch ? branch.artifact.id : branch.execution.id);
  return [
    {
      title: 'ARTIFACTS AND AGENTS',
      of: (branch) => branch.lines + oneLine(nameOf(branch, trace)),
      style: (branch) => (idOf(branch) === asked.toLowerCase() ? 'bold' : null),
      isVerbatim: true,
      most: Math.max(LEAST_TREE, width - BESIDE_TREE),
    },
    {
      title: 'STATE',
      of: (branch) => ('execution' in branch ? stateOf(branch.execution) : null),
      style: (branch) => ('execution' in branch ? styleOfState(branch.execution.state) : null),
    },
    {
      title: 'AT',
      of: (branch) =>
        at(
          'artifact' in branch
            ? branch.artifact.created_at
            : (branch.execution.started_at ?? branch.execution.created_at),
        ),
      isRight: true,
    },
    {
      title: 'TOOK',
      of: (branch) => ('execution' in branch ? between(branch.execution.started_at, branch.execution.ended_at) : null),
      isRight: true,
    },
    { title: 'ID', of: idOf, style: () => 'dim' },
  ];
}

function nameOf(branch: Branch, trace: TraceBody): string {
  if ('artifact' in branch) return branch.artifact.type;
  const { agent, correlation_id: correlation } = branch.execution;
  const elsewhere = correlation === trace.correlation_id ? '' : ` in ${correlation}`;
  return `${agent}${inputsOf(branch.execution, trace)}${elsewhere}`;
}

const stateOf = (execution: TracedExecutionBody): string =>
  execution.next_attempt_at === null ? execution.state : 'retrying';

function notesOf(branch: Branch, waits: readonly Wait[], output: Output): string[] {
  if ('artifact' in branch) return [];
  const wait = waits.find((one) => 'execution_id' in one && one.execution_id === branch.execution.id);
  const note = (text: string): string => cut(`${branch.linesBelow}${oneLine(text)}`, output.width);
  return [
    ...errorsOf(branch.execution).map((error) => output.paint('red', note(error))),
    ...originsOf(branch.execution).map((origin) => output.paint('dim', note(origin))),
    ...(wait && wait.kind !== 'running' ? [output.paint('yellow', note(`waits: ${reasonWithTime(wait)}`))] : []),
  ];
}

/** The lines about everything that waits, except the executions of the tree. */
function remaining(waits: readonly Wait[], output: Output): string[] {
  const others = waits.filter((wait) => !('execution_id' in wait));
  if (others.length === 0) return [];
  const lines = others.map((wait) => `  ${'agent' in wait ? `${wait.agent}: ` : ''}${reasonWithTime(wait)}`);
  return ['', 'Waits:', ...lines.map((line) => output.paint('yellow', cut(line, output.width)))];
}

const reasonWithTime = (wait: Wait): string =>
  oneLine(`${reasonOf(wait)}${wait.until === null ? '' : ` (until ${toTheSecond(wait.until)})`}`);

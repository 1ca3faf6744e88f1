import type { Schemas } from '../../api/requests';
import { shortId } from '../../formats';
import type { TimelineRow, TracedArtifact, TracedExecution } from './rows';

/** More are slow to place and cannot be read. */
const MOST_EXECUTIONS = 100;
const MOST_ARTIFACTS = 200;

export type TraceNode =
  | { kind: 'execution'; id: string; execution: TracedExecution }
  /** If an artifact is not in the trace, only its id is known. */
  | { kind: 'artifact'; id: string; name: string };

export interface TraceGraph {
  nodes: TraceNode[];
  edges: { from: string; to: string }[];
  /** The numbers of the first and the last execution that it shows, from 1, and of all executions. */
  first: number;
  last: number;
  executions: number;
  /** How many artifacts it leaves out that these executions took or published. */
  hiddenArtifacts: number;
}

export const nameOf = (node: TraceNode): string => (node.kind === 'execution' ? node.execution.agent : node.name);

type Trace = Schemas['TraceBody'];

/** The artifacts of a trace by their ids. */
export const artifactsOf = (pages: readonly Trace[]): ReadonlyMap<string, TracedArtifact> =>
  new Map(pages.flatMap(({ artifacts }) => artifacts).map((artifact) => [artifact.id, artifact]));

/** The execution that the timeline and the graph have in common for what is selected. */
export const executionOf = (id: string, artifacts: ReadonlyMap<string, TracedArtifact>): string =>
  artifacts.get(id)?.execution_id ?? id;

/**
 * Some executions in the order of the timeline, those with the selected one, and the artifacts that they took and
 * published.
 */
export function traceGraph(
  rows: readonly TimelineRow[],
  artifacts: ReadonlyMap<string, TracedArtifact>,
  selected: string,
): TraceGraph {
  const all = rows.flatMap((row) => (row.kind === 'execution' ? [row.execution] : []));
  const start = startOf(all, artifacts, selected);
  const executions = all.slice(start, start + MOST_EXECUTIONS);
  const links = executions.flatMap(({ id, inputs, outputs }) => [
    ...inputs.map((from) => ({ from, to: id, artifact: from })),
    ...outputs.map((to) => ({ from: id, to, artifact: to })),
  ]);
  const published = rows.flatMap(({ kind, id }) => (kind === 'artifact' ? [id] : []));
  const shown = mostConnected([
    ...links.map(({ artifact }) => artifact),
    // An artifact without executions, if it belongs to this part.
    ...(all.length <= MOST_EXECUTIONS ? published : published.filter((id) => id === selected)),
  ]);
  return {
    nodes: [
      ...[...shown.ids].map((id): TraceNode => ({
        kind: 'artifact',
        id,
        name: artifacts.get(id)?.type ?? shortId(id),
      })),
      ...executions.map((execution): TraceNode => ({ kind: 'execution', id: execution.id, execution })),
    ],
    edges: links.filter(({ artifact }) => shown.ids.has(artifact)).map(({ from, to }) => ({ from, to })),
    first: start + 1,
    last: start + executions.length,
    executions: all.length,
    hiddenArtifacts: shown.hidden,
  };
}

/** The index of the first execution: that of a full hundred, so that the graph stays the same within it. */
function startOf(
  all: readonly TracedExecution[],
  artifacts: ReadonlyMap<string, TracedArtifact>,
  selected: string,
): number {
  const producer = executionOf(selected, artifacts);
  const index = all.findIndex(({ id, inputs }) => id === producer || inputs.includes(selected));
  return Math.floor(Math.max(0, index) / MOST_EXECUTIONS) * MOST_EXECUTIONS;
}

/** Artifacts that lead from one execution to another come first. */
function mostConnected(links: readonly string[]): { ids: Set<string>; hidden: number } {
  const counts = new Map<string, number>();
  for (const id of links) counts.set(id, (counts.get(id) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one).map(([id]) => id);
  return { ids: new Set(sorted.slice(0, MOST_ARTIFACTS)), hidden: Math.max(0, sorted.length - MOST_ARTIFACTS) };
}

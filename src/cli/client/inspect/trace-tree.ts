import type {
  TraceBody,
  TracedArtifactBody,
  TracedExecutionBody,
} from '../../../features/correlations/dto/trace-body.js';

type Node = { artifact: TracedArtifactBody } | { execution: TracedExecutionBody };

/** A node with the lines that lead to it. */
export type Branch = Node & {
  /** Before its name. */
  lines: string;
  /** Before further lines about it. */
  linesBelow: string;
};

/**
 * Returns the graph as a tree, each node once: below an artifact the executions that it completed the inputs of, below
 * an execution the artifacts that it published.
 */
export function treeOf({ artifacts, executions }: TraceBody): Branch[] {
  const place = new Map(artifacts.map(({ id }, index) => [id, index]));
  const executionsBelow = Map.groupBy(executions, ({ inputs }) =>
    inputs.findLast((id) => place.get(id) === Math.max(...inputs.map((input) => place.get(input) ?? -1))),
  );
  const known = new Set(executions.map(({ id }) => id));
  const artifactsBelow = Map.groupBy(artifacts, ({ execution_id: id }) => (id && known.has(id) ? id : null));
  const childrenOf = (node: Node): Node[] =>
    'artifact' in node
      ? (executionsBelow.get(node.artifact.id) ?? []).map((execution) => ({ execution }))
      : (artifactsBelow.get(node.execution.id) ?? []).map((artifact) => ({ artifact }));

  const branches: Branch[] = [];
  const roots: Node[] = [
    ...(executionsBelow.get(undefined) ?? []).map((execution) => ({ execution })),
    ...(artifactsBelow.get(null) ?? []).map((artifact) => ({ artifact })),
  ];
  // A cascade can be deeper than the stack of calls.
  const open = roots.reverse().map((node) => ({ node, lines: '', below: '' }));
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, lines, below } = next;
    const children = childrenOf(node);
    branches.push({ ...node, lines, linesBelow: below + (children.length > 0 ? '│  ' : '   ') });
    const last = children.length - 1;
    open.push(
      ...children
        .map((child, index) => ({
          node: child,
          lines: `${below}${index === last ? '└─ ' : '├─ '}`,
          below: `${below}${index === last ? '   ' : '│  '}`,
        }))
        .reverse(),
    );
  }
  return branches;
}

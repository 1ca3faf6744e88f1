/**
 * Groups of nodes that can all reach each other; each node is in one group. Tarjan's algorithm: the time is linear in
 * nodes and edges. Without recursion, because a chain of some thousand nodes would overflow the stack.
 */
export function stronglyConnected<Node>(nodes: Iterable<Node>, successors: (node: Node) => Iterable<Node>): Node[][] {
  const search = new Search(successors);
  for (const node of nodes) search.from(node);
  return search.groups;
}

interface Visit<Node> {
  node: Node;
  position: number;
  /** The lowest position of an open node that this node reaches. */
  lowest: number;
  /** The successors that were not visited yet; null once the node's group is known. */
  rest: Iterator<Node> | null;
}

class Search<Node> {
  readonly groups: Node[][] = [];
  private readonly visits = new Map<Node, Visit<Node>>();
  /** Nodes that were visited and have no group yet. */
  private readonly open: Visit<Node>[] = [];

  constructor(private readonly successors: (node: Node) => Iterable<Node>) {}

  from(start: Node): void {
    if (this.visits.has(start)) return;
    const path = [this.enter(start)];
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const next = visit.rest!.next();
      if (next.done) this.leave(path);
      else this.follow(visit, next.value, path);
    }
  }

  private enter(node: Node): Visit<Node> {
    const position = this.visits.size;
    const visit: Visit<Node> = { node, position, lowest: position, rest: this.successors(node)[Symbol.iterator]() };
    this.visits.set(node, visit);
    this.open.push(visit);
    return visit;
  }

  private follow(visit: Visit<Node>, next: Node, path: Visit<Node>[]): void {
    const known = this.visits.get(next);
    if (!known) path.push(this.enter(next));
    else if (known.rest !== null) visit.lowest = Math.min(visit.lowest, known.position);
  }

  private leave(path: Visit<Node>[]): void {
    const visit = path.pop()!;
    const before = path.at(-1);
    if (before) before.lowest = Math.min(before.lowest, visit.lowest);
    if (visit.lowest < visit.position) return;
    const group = this.open.splice(this.open.lastIndexOf(visit));
    for (const member of group) member.rest = null;
    this.groups.push(group.map(({ node }) => node));
  }
}

/** A key whose executions wait. `most`: how many executions it has, if that is known. */
export interface WaitingKey {
  key: string;
  /** The key with the lowest one comes next. */
  turn: number;
  weight: number;
  most: number;
}

/** How far a start moves the turn of its key. */
export const lengthOfTurn = (weight: number): number => 1 / weight;

/**
 * The keys of the next `count` starts, in their order. It shares like deficit round robin, but needs no visits to keys
 * that have used their share: the key with the lowest turn starts, and its turn moves by 1 / weight (start-time fair
 * queueing). Between two starts of a key with weight w, a key with weight v starts at most v / w + 1 times.
 */
export function nextTurns(keys: readonly WaitingKey[], count: number): string[] {
  const line = keys.filter(({ most }) => most > 0).sort((one, other) => one.turn - other.turn);
  const order: string[] = [];
  while (order.length < count && line.length > 0) {
    const { key, turn, weight, most } = line.shift()!;
    order.push(key);
    if (most > 1) insert(line, { key, turn: turn + lengthOfTurn(weight), weight, most: most - 1 });
  }
  return order;
}

/** Behind keys with the same turn, which have waited for longer. */
function insert(line: WaitingKey[], waiting: WaitingKey): void {
  let from = 0;
  let to = line.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (line[middle]!.turn <= waiting.turn) from = middle + 1;
    else to = middle;
  }
  line.splice(from, 0, waiting);
}

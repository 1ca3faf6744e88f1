import type { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Queue, QueuedRow } from '../../queue/queue.js';
import type { FoundRows } from '../../queue/ready-rows.js';
import {
  adoptWithoutKey,
  deleteKeysWithoutWork,
  type FairKeyRow,
  findingAt,
  findingKeys,
  findingOfKey,
  moveStarted,
  setVirtualTime,
} from './fair-key-rows.js';
import { lengthOfTurn, nextTurns } from './turn-order.js';

type Fair = QueuedRow & { fair_key: string | null; fair_weight: number | null };

/** The first rows of a key. `isAll`: it has no others. */
interface OfKey<Row> {
  rows: Row[];
  isAll: boolean;
}

/**
 * A key with ready executions. `ready`: the position of the first. `turn`: at least the virtual time, because a key has an
 * earlier one if its executions waited for another process, or if the transaction that added it took long.
 */
type ReadyKey = FairKeyRow & { ready: number };

/** The keys that come next. `idle`: those before and among them that have no ready execution. */
interface NextKeys {
  keys: ReadyKey[];
  idle: string[];
  /** Whether there are no further keys. */
  isAll: boolean;
  virtualTime: number;
}

/** How many keys each query reads if some of the first have no ready execution. */
const FURTHER_KEYS = 1_000;
const ADOPT_EVERY_MS = 30_000;

/**
 * Finds the rows of a queue that are to be claimed next if its keys take turns. Reads as many keys as rows are asked
 * for, more only to pass keys without ready rows, and of each key only the rows that its turns allow, however many wait. The claim moves the turns of what it
 * takes, under the lock that keeps other claims of the queue away.
 */
export class FairRows<Row extends Fair> {
  private readonly findKeys: ReturnType<typeof findingKeys<Row>>;
  private readonly findAt: ReturnType<typeof findingAt<Row>>;
  private readonly findOfKey: ReturnType<typeof findingOfKey<Row>>;
  private readonly adoptAt = new Map<string, number>();

  constructor(
    private readonly queue: Queue<Row>,
    private readonly clock: Clock,
  ) {
    this.findKeys = findingKeys(queue);
    this.findAt = findingAt(queue);
    this.findOfKey = findingOfKey(queue);
  }

  async find(tx: Transaction, agent: string, limit: number): Promise<FoundRows<Row>> {
    const next = await this.nextKeys(tx, agent, limit);
    const { keys, isAll } = next;
    const { ready, ofKeys } = await this.inTurns(tx, agent, keys, limit);
    const adopted = ready.length < limit || this.isDue(agent) ? await this.adopt(tx, agent) : 0;
    return {
      queue: agent,
      ready,
      isAll: ready.length < limit && isAll && adopted === 0,
      take: () => undefined,
      settle: (taken) => this.settle(tx, agent, taken, next, ofKeys),
    };
  }

  /** Passes keys that have no ready execution: all were cancelled, or are assigned to others. */
  private async nextKeys(tx: Transaction, agent: string, limit: number): Promise<NextKeys> {
    const keys = new Map<string, ReadyKey>();
    const idle: string[] = [];
    let place = { turn: -1, key: '' };
    let isAll = false;
    let virtualTime = 0;
    for (let count = limit; keys.size < limit && !isAll; count = FURTHER_KEYS) {
      const rows = await this.findKeys(tx.db, { agent, ...place, limit: count });
      for (const row of rows) {
        if (keys.size === limit) break;
        place = { turn: row.turn, key: row.fair_key };
        virtualTime = row.virtual_time;
        if (row.ready === null) idle.push(row.fair_key);
        else if (!keys.has(row.fair_key))
          keys.set(row.fair_key, { ...row, ready: row.ready, turn: Math.max(row.turn, virtualTime) });
      }
      isAll = rows.length < count;
    }
    return { keys: [...keys.values()], idle, isAll, virtualTime };
  }

  /**
   * Asks for more rows of a key only if the turns of others that have fewer rows fall to it. One query reads the rows of all
   * keys that come once.
   */
  private async inTurns(
    tx: Transaction,
    agent: string,
    keys: readonly ReadyKey[],
    limit: number,
  ): Promise<{ ready: Row[]; ofKeys: ReadonlyMap<string, OfKey<Row>> }> {
    const ofKeys = new Map<string, OfKey<Row>>();
    const positions = new Map(keys.map(({ fair_key: key, ready }) => [key, ready]));
    for (;;) {
      const order = nextTurns(
        keys.map(({ fair_key: key, turn, weight }) => ({ key, turn, weight, most: mostOf(ofKeys.get(key)) })),
        limit,
      );
      const lacking = [...counted(order)].filter(([key, count]) => count > (ofKeys.get(key)?.rows.length ?? -1));
      if (lacking.length === 0) return { ready: inOrder(order, ofKeys), ofKeys };
      const once = lacking.flatMap(([key, count]) => (count === 1 ? [positions.get(key)!] : []));
      for (const row of await this.findAt(tx.db, {}, once)) ofKeys.set(row.fair_key!, { rows: [row], isAll: false });
      const more = lacking.filter(([key, count]) => count > (ofKeys.get(key)?.rows.length ?? 0));
      await Promise.all(
        more.map(async ([key, count]) => {
          const rows = await this.findOfKey(tx.db, { agent, key, limit: count });
          ofKeys.set(key, { rows, isAll: rows.length < count });
        }),
      );
    }
  }

  /** Rows that were found and not taken, because of a limit or for lack of slots, cost no turn. */
  private async settle(
    tx: Transaction,
    agent: string,
    taken: readonly Row[],
    { keys, idle, virtualTime }: NextKeys,
    ofKeys: ReadonlyMap<string, OfKey<Row>>,
  ): Promise<void> {
    const turns = new Map(keys.map(({ fair_key: key, turn }) => [key, turn]));
    const moves = [...Map.groupBy(taken, ({ fair_key }) => fair_key!)].map(([key, rows]) => {
      const weight = rows.at(-1)!.fair_weight!;
      const by = rows.reduce((sum, { fair_weight }) => sum + lengthOfTurn(fair_weight!), 0);
      return { key, by, weight, lastStart: turns.get(key)! + by - lengthOfTurn(weight) };
    });
    // Most keys have the same weight, and start once.
    for (const same of Map.groupBy(moves, ({ by, weight }) => `${by} ${weight}`).values()) {
      const [{ by, weight }] = same as [(typeof moves)[number]];
      await moveStarted(
        tx.db,
        { agent, virtualTime, by, weight },
        same.map(({ key }) => key),
      );
    }
    const lastStart = moves.reduce((latest, move) => Math.max(latest, move.lastStart), virtualTime);
    if (lastStart > virtualTime) await setVirtualTime(tx.db, [{ agent, virtual_time: lastStart }]);
    const ended = [...ofKeys].flatMap(([key, { isAll }]) => (isAll ? [key] : []));
    await deleteKeysWithoutWork(tx, agent, [...idle, ...ended]);
  }

  private async adopt(tx: Transaction, agent: string): Promise<number> {
    tx.afterCommit(() => this.adoptAt.set(agent, this.clock.now() + ADOPT_EVERY_MS));
    return adoptWithoutKey(tx, this.queue, agent);
  }

  private isDue(agent: string): boolean {
    return this.clock.now() >= (this.adoptAt.get(agent) ?? 0);
  }
}

const mostOf = (known: OfKey<unknown> | undefined): number => (known?.isAll ? known.rows.length : Infinity);

function counted(order: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of order) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

function inOrder<Row>(order: readonly string[], ofKeys: ReadonlyMap<string, OfKey<Row>>): Row[] {
  const passed = new Map<string, number>();
  return order.map((key) => {
    const index = passed.get(key) ?? 0;
    passed.set(key, index + 1);
    return ofKeys.get(key)!.rows[index]!;
  });
}

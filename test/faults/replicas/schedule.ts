import { Random } from '../../support/random.js';

export const REPLICAS = 3;

export type Fault =
  | { do: 'kill'; replica: number; downMs: number }
  | { do: 'stop'; replica: number; forMs: number }
  | { do: 'crash postgres'; downMs: number }
  | { do: 'end sessions'; share: number };

/** `afterMs` is the time since the fault before it began. Faults overlap. */
export type Planned = Fault & { afterMs: number };

export interface Schedule {
  /** The flags of each replica besides the common ones. */
  flags: string[][];
  faults: Planned[];
}

const KINDS: readonly Fault['do'][] = ['kill', 'stop', 'crash postgres', 'end sessions'];
/** The number of faults besides one of each kind. */
const MORE = 2;

/**
 * Returns the events of one round, all derived from the seed. `leaseMs` decides which stops are longer than a lease.
 */
export function scheduleOf(seed: number, leaseMs: number): Schedule {
  const random = new Random(seed);
  // About every second round has a replica without worker.
  const idle = random.next() < 0.5 ? random.between(0, REPLICAS - 1) : null;
  const flags = Array.from({ length: REPLICAS }, (_, index) => (index === idle ? ['--no-worker'] : []));
  const more = Array.from({ length: MORE }, () => KINDS[random.between(0, KINDS.length - 1)]!);
  const inOrder = [...KINDS, ...more]
    .map((kind) => ({ kind, rank: random.next() }))
    .sort((one, other) => one.rank - other.rank);
  return {
    flags,
    faults: inOrder.map(({ kind }) => ({ ...fault(kind, random, leaseMs), afterMs: random.between(200, 1_200) })),
  };
}

function fault(kind: Fault['do'], random: Random, leaseMs: number): Fault {
  const replica = random.between(0, REPLICAS - 1);
  switch (kind) {
    case 'kill':
      return { do: kind, replica, downMs: random.between(0, 1_500) };
    case 'stop':
      return { do: kind, replica, forMs: random.between(100, 2 * leaseMs) };
    case 'crash postgres':
      return { do: kind, downMs: random.between(0, 1_000) };
    case 'end sessions':
      return { do: kind, share: Math.round(random.next() * 100) / 100 };
  }
}

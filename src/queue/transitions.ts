import type { DeliveryState, ExecutionState } from '../database/schema.js';

type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** The tables whose rows have a life cycle, and for each state the states that may follow it. */
export const TRANSITIONS = {
  executions: {
    pending: ['running', 'cancelled'],
    // `pending`: the attempt failed, or its lease was lost or handed back.
    running: ['pending', 'completed', 'failed', 'cancelled'],
    completed: [],
    // Retried by hand.
    failed: ['pending'],
    cancelled: [],
  },
  deliveries: {
    // `dead`: its target has not answered for too long.
    waiting: ['pending', 'dead'],
    pending: ['running', 'dead'],
    running: ['pending', 'delivered', 'dead'],
    // Sent again by hand.
    delivered: ['pending', 'waiting'],
    dead: ['pending', 'waiting'],
  },
} as const satisfies { executions: Transitions<ExecutionState>; deliveries: Transitions<DeliveryState> };

export type TableWithStates = keyof typeof TRANSITIONS;

export type StateOf<Table extends TableWithStates> = keyof (typeof TRANSITIONS)[Table] & string;

/** The states of a table that all of the states `To` may follow. */
export type SourceOf<Table extends TableWithStates, To extends string> = {
  [From in StateOf<Table>]: [To] extends [NextOf<Table, From>] ? From : never;
}[StateOf<Table>];

type NextOf<
  Table extends TableWithStates,
  From extends StateOf<Table>,
> = (typeof TRANSITIONS)[Table][From] extends readonly (infer Next)[] ? Next : never;

export const isAllowed = (table: TableWithStates, from: string, to: string): boolean =>
  (TRANSITIONS[table] as Transitions<string>)[from]?.includes(to) ?? false;

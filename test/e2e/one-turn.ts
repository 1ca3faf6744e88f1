import { changeStored } from '../faults/change-stored.js';
import type { Board } from './board.js';

/** Runs a statement on the database of the app, without Starling's code. */
export const change = ({ app: { database } }: Board, statement: string): Promise<void> =>
  changeStored(database.url, statement);

/** From then on the database itself refuses a second turn of a key, and the transaction that gives one fails. */
export const refuseSecondTurns = (board: Board): Promise<void> =>
  change(
    board,
    `create unique index one_turn on executions (agent, singleton_key)
    where ended_at is null and singleton_waits = 0 and substr(singleton_key, 1, 1) = '"'`,
  );

/** The lines of the log about second turns that were refused. */
export const refusals = ({ app: { logLines } }: Board): string[] =>
  logLines.map((line) => JSON.stringify(line)).filter((line) => /one_turn|UNIQUE constraint/.test(line));

import { DatabaseSync } from 'node:sqlite';

import type { Client } from 'pg';

import { connected } from '../support/postgres-cluster.js';
import type { Board } from './board.js';

/** Runs a statement on the database of the app, without Starling's code. */
export async function change({ app: { database } }: Board, statement: string): Promise<void> {
  if (TEST_DATABASE === 'postgres')
    return connected(database.url, (client: Client) => client.query(statement).then(() => undefined));
  const connection = new DatabaseSync(database.url.slice('sqlite:'.length), { timeout: 60_000 });
  connection.exec(statement);
  connection.close();
}

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

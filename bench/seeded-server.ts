import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { queryOnce } from '../test/support/postgres-cluster.ts';
import { runToEnd, Server } from './children.ts';
import { eventually } from './eventually.ts';
import type { History } from './scale.ts';

const ROLLED_UP_WITHIN_MS = 600_000;

/** Seeds a SQLite file and serves it with further options. Resolves when all artifacts are rolled up. */
export async function serveHistory(folder: string, artifacts: number, options: string[] = []): Promise<History> {
  const name = ['history', artifacts, ...options].join('-');
  const path = join(folder, `${name}.db`);
  await runToEnd('seed.ts', [`sqlite:${path}`, String(artifacts)]);
  const server = await Server.starling(folder, name, { options });
  const database = new DatabaseSync(path, { readOnly: true });
  const position = database.prepare(
    "select min(up_to_seq) * (count(*) = 2) as rolled_up from rollups where name in ('artifacts', 'artifact_terms')",
  );
  await eventually(
    `${artifacts} artifacts are rolled up`,
    async () => ((position.get()!.rolled_up as number) >= artifacts ? true : undefined),
    ROLLED_UP_WITHIN_MS,
  );
  database.close();
  return { server, artifacts };
}

/** Seeds an empty Postgres database and serves it. Resolves when all artifacts are rolled up. */
export async function servePostgresHistory(folder: string, databaseUrl: string, artifacts: number): Promise<History> {
  await runToEnd('seed.ts', [databaseUrl, String(artifacts)]);
  const server = await Server.starling(folder, `history-${artifacts}-postgres`, { databaseUrl });
  const isRolledUp = async (): Promise<true | undefined> => {
    const [rollup] = await queryOnce<{ done: boolean }>(
      databaseUrl,
      `select count(*) = 2 and min(up_to_seq) >= ${artifacts} as done from rollups where name in ('artifacts', 'artifact_terms')`,
    );
    return rollup?.done ? true : undefined;
  };
  await eventually(`${artifacts} artifacts are rolled up`, isRolledUp, ROLLED_UP_WITHIN_MS);
  return { server, artifacts };
}

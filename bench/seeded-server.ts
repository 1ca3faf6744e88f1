import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { runToEnd, Server } from './children.ts';
import { eventually } from './eventually.ts';
import type { History } from './scale.ts';

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
  await eventually(`${artifacts} artifacts are rolled up`, async () =>
    (position.get()!.rolled_up as number) >= artifacts ? true : undefined,
  );
  database.close();
  return { server, artifacts };
}

import { agentRows } from './agents.ts';
import { batchRow } from './batches.ts';
import { type LoadGenerator, Server } from './children.ts';
import { importRows } from './import.ts';
import { llmRow } from './llm.ts';
import { memoryRows } from './memory.ts';
import { remoteRows } from './remote.ts';
import { report } from './report.ts';
import type { Row } from './row.ts';
import { SMALL } from './scale.ts';
import { serveHistory } from './seeded-server.ts';
import { streamRow } from './streams.ts';
import { Throughput } from './throughput.ts';
import { webhookRows } from './webhooks.ts';

/** Measures one process on a SQLite file. */
export async function sqliteRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  const echo = await Server.echo(folder);
  const rows: Row[] = [];

  report('SQLite: memory');
  const unused = await Server.starling(folder, 'memory');
  const memory = await memoryRows(generator, unused, echo);
  await unused.stop();

  report('SQLite: throughput');
  const small = await serveHistory(folder, SMALL);
  const fresh = await Server.starling(folder, 'fresh');
  rows.push(...(await new Throughput(generator, echo).rows(fresh, small.server)));
  await Promise.all([echo.stop(), small.server.stop()]);

  report('SQLite: batches');
  rows.push(await batchRow(generator, fresh));
  await fresh.stop();
  rows.push(...(await importRows(generator, folder)));

  report('SQLite: a language model');
  rows.push(await llmRow(generator, folder));

  report('SQLite: remote agents');
  rows.push(...(await remoteRows(generator, folder)));

  report('SQLite: webhooks');
  rows.push(...(await webhookRows(generator, folder)));

  report('SQLite: streams');
  rows.push(await streamRow(folder));

  report('SQLite: many agents');
  rows.push(...(await agentRows(folder)));

  return [...rows, ...memory];
}

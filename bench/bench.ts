// npm run bench: measures the built service beside its baselines and prints the table; docs/performance.md says how to read it.
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { batchRow } from './batches.ts';
import { LoadGenerator, Server, killAll, runToEnd } from './children.ts';
import { intakeRows } from './intake.ts';
import { memoryRows } from './memory.ts';
import { type Row, printTable } from './row.ts';
import { type History, Scale, folded } from './scale.ts';
import { Throughput } from './throughput.ts';

const SMALL = 10_000;
const LARGE = 1_000_000;

const folder = mkdtempSync(join(tmpdir(), 'starling-bench-'));
const started = performance.now();

function cleanUp(): void {
  killAll();
  rmSync(folder, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}

try {
  await bench();
} finally {
  cleanUp();
}

async function bench(): Promise<void> {
  console.log(`Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${new Date().toISOString()}\n`);
  const generator = new LoadGenerator();
  const echo = await Server.echo(folder);
  const rows: Row[] = [];

  tell('memory');
  const unused = await Server.starling(join(folder, 'memory.db'));
  const memory = await memoryRows(generator, unused, echo);
  await unused.stop();

  tell('throughput');
  const small = await serveHistory(SMALL);
  const fresh = await Server.starling(join(folder, 'fresh.db'));
  rows.push(...(await new Throughput(generator, echo).rows(fresh, small.server)));
  await echo.stop();

  tell('batches');
  rows.push(await batchRow(generator, fresh));
  await fresh.stop();
  rows.push(...(await intakeRows(generator, folder)));

  tell(`a history of ${LARGE} artifacts`);
  const large = await serveHistory(LARGE);
  rows.push(await new Scale(generator, small, large).row());
  await Promise.all([small.server.stop(), large.server.stop()]);

  printTable([...rows, ...memory]);
  console.log(`\nThe load generator was busy for at most ${Math.round(generator.busiest * 100)} % of a core.`);
}

async function serveHistory(artifacts: number): Promise<History> {
  const path = join(folder, `${artifacts}.db`);
  await runToEnd('seed.ts', [path, String(artifacts)]);
  const server = await Server.starling(path);
  await folded(path, artifacts);
  return { server, artifacts };
}

function tell(what: string): void {
  console.error(`${Math.round((performance.now() - started) / 1_000)} s: ${what}`);
}

import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';

import { type LoadGenerator, Server } from './children.ts';
import { residentMegabytes } from './memory.ts';
import { SYNC_PUBLISH } from './requests.ts';
import { milliseconds, perSecond, type Row } from './row.ts';

const WARM_ROWS = 20_000;
// No import is faster, so that the caller stops before it finishes.
const FASTEST_ROWS_PER_SECOND = 250_000;

/**
 * Measures the import of a generated CSV by its path, while one caller publishes and waits for each answer, in a
 * separate database.
 */
export async function importRows(generator: LoadGenerator, folder: string, rows = 1_000_000): Promise<Row[]> {
  const rowsFolder = join(folder, 'rows');
  mkdirSync(rowsFolder);
  const server = await Server.starling(folder, 'import', { options: ['--csv-root', rowsFolder] });
  const callAlone = (seconds: number) =>
    generator.run({ url: server.url, requests: SYNC_PUBLISH, connections: 1, until: { seconds } });
  const warm = await writeCsv(rowsFolder, WARM_ROWS);
  const csv = await writeCsv(rowsFolder, rows);
  await callAlone(2);
  await takeIn(server, warm);

  const seconds = rows / FASTEST_ROWS_PER_SECOND;
  const alone = await callAlone(seconds);
  const memory = new MemoryWatch(server);
  // Restarts with every query.
  await eventLoopDelayP99(server);
  const [took, during] = await Promise.all([takeIn(server, csv), callAlone(seconds)]);
  const delay = await eventLoopDelayP99(server);
  const { before, most } = memory.end();
  await server.stop();

  const work = (figure: string): string => `import of ${rows.toLocaleString('en')} CSV rows: ${figure}`;
  const lower = { better: 'lower', baseline: '' } as const;
  return [
    {
      work: work('thousand rows/s'),
      value: rows / took,
      atLeast: 30,
      aim: 60,
      better: 'higher',
      unit: '',
      measured: perSecond((rows / took) * 1_000),
      baseline: `a caller during ${seconds} s of it`,
    },
    {
      ...lower,
      work: work('growth'),
      value: most - before,
      atLeast: 150,
      aim: 75,
      unit: ' MB',
      measured: `${most.toFixed(0)} MB at most`,
      baseline: `${before.toFixed(0)} MB before`,
    },
    {
      ...lower,
      work: work('event-loop delay p99'),
      value: delay,
      atLeast: 50,
      aim: 25,
      unit: ' ms',
      measured: 'GET /metrics',
    },
    {
      ...lower,
      work: work('p99 of sync publishes during it'),
      value: during.p99 / alone.p99,
      atLeast: 5,
      aim: 3,
      unit: '',
      measured: milliseconds(during.p99),
      baseline: `alone ${milliseconds(alone.p99)}`,
    },
  ];
}

/** Writes a CSV and returns its name within `folder`. */
async function writeCsv(folder: string, rows: number): Promise<string> {
  const name = `${rows}.csv`;
  await pipeline(Readable.from(csvOf(rows)), createWriteStream(join(folder, name)));
  return name;
}

function* csvOf(rows: number): Generator<string> {
  yield 'id,text,amount\n';
  for (let row = 0; row < rows; row += 1) yield `${row},Where is parcel ${row}?,${(row % 1_000) / 10}\n`;
}

/** Returns how many milliseconds the answer took. The batch is cancelled then, because its runs are not measured. */
async function takeIn({ url }: Server, csv: string): Promise<number> {
  const body = JSON.stringify({ agent_name: 'answerer', batch_inputs: csv, max_workers: 1 });
  const started = performance.now();
  const response = await fetch(`${url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.status !== 200) throw new Error(`POST /run/batch answered ${response.status}: ${await response.text()}`);
  const took = performance.now() - started;
  const { batch_id: id } = (await response.json()) as { batch_id: string };
  const cancelled = await fetch(`${url}/batch/${id}/cancel`, { method: 'POST' });
  if (cancelled.status !== 200)
    throw new Error(`the cancelling answered ${cancelled.status}: ${await cancelled.text()}`);
  return took;
}

/** Returns the p99 of the event loop's delay since the last query, in ms. */
async function eventLoopDelayP99({ url }: Server): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)![1]) * 1_000;
}

/** Watches the peak of the resident memory, in MB. */
class MemoryWatch {
  readonly before: number;
  most: number;
  private readonly server: Server;
  private watching = true;

  constructor(server: Server) {
    this.server = server;
    this.before = this.most = residentMegabytes(server.pid);
    void this.watch();
  }

  end(): this {
    this.watching = false;
    return this;
  }

  private async watch(): Promise<void> {
    while (this.watching) {
      this.most = Math.max(this.most, residentMegabytes(this.server.pid));
      await wait(50);
    }
  }
}

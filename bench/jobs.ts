import { measuredBy } from './children.ts';
import { report } from './report.ts';
import { perSecond, type Row } from './row.ts';
import { median } from './statistics.ts';

const JOBS = 5_000;
/** The number of callers, and of workers, for both. */
const WORKERS = 32;
const RUNS = 3;

/**
 * Measures executions of one agent that does nothing, and empty jobs of pg-boss, from the first publish or send to
 * the end of the last, on the same server, each in a separate process; the artifacts are stored. pg-boss is measured in
 * two ways, because its `work` polls the database twice a second at most unless it is woken; the quicker one counts.
 */
export async function jobRow(newDatabase: (name: string) => Promise<string>): Promise<Row> {
  const ways = {
    starling: { file: 'starling-jobs.ts', args: [], url: await newDatabase('jobs') },
    work: { file: 'pg-boss-jobs.ts', args: ['work'], url: await newDatabase('boss-work') },
    fetch: { file: 'pg-boss-jobs.ts', args: ['fetch'], url: await newDatabase('boss-fetch') },
  };
  const rates: Record<keyof typeof ways, number[]> = { starling: [], work: [], fetch: [] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const [name, { file, args, url }] of Object.entries(ways)) {
      rates[name as keyof typeof ways].push(await measuredBy(file, [url, String(JOBS), String(WORKERS), ...args]));
    }
  }
  const [ours, work, fetch] = [median(rates.starling), median(rates.work), median(rates.fetch)];
  report(
    `jobs/s: ours ${ours.toFixed(0)}, pg-boss by work ${work.toFixed(0)}, by fetch and complete ${fetch.toFixed(0)}`,
  );
  return {
    work: `empty jobs compared with pg-boss, ${WORKERS} callers and ${WORKERS} workers`,
    value: ours / Math.max(work, fetch),
    atLeast: 0.7,
    aim: null,
    better: 'higher',
    unit: '',
    measured: perSecond(ours),
    baseline: `pg-boss: work ${perSecond(work)}, fetch and complete ${perSecond(fetch)}`,
  };
}

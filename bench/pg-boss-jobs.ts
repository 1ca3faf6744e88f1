// node pg-boss-jobs.ts <database url> <jobs> <workers> work|fetch: sends this many empty jobs and processes them, and
// sends how many per second were completed, from the first `send` to the last completion. `work` uses pg-boss' own
// workers next to the senders, which wake one with each job; a worker that had a job looks for the next immediately.
// `fetch` starts after all are sent: as many loops as workers fetch and complete one job at a time, and never wait.
import { PgBoss } from 'pg-boss';

import { inTurns } from './in-turns.ts';

const [connectionString, jobs, workers, way] = [
  process.argv[2]!,
  Number(process.argv[3]),
  Number(process.argv[4]),
  process.argv[5]!,
];
const QUEUE = 'jobs';

// The number of connections that Starling's transactions have.
const boss = new PgBoss({ connectionString, max: 12 });
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue(QUEUE);
const workOff = way === 'work' ? byWork : byFetch;
await workOff(jobs / 5);
process.send!(await workOff(jobs));
await boss.stop();
process.disconnect();

async function byWork(count: number): Promise<number> {
  let handled = 0;
  let allHandled = (): void => undefined;
  const end = new Promise<void>((resolve) => (allHandled = resolve));
  const ids: string[] = [];
  for (let worker = 0; worker < workers; worker += 1) {
    const id = await boss.work(QUEUE, { batchSize: 1, pollingIntervalSeconds: 0.5 }, async () => {
      boss.notifyWorker(id);
      if ((handled += 1) === count) allHandled();
    });
    ids.push(id);
  }
  let woken = 0;
  const started = performance.now();
  await inTurns(workers, count, async () => {
    await boss.send(QUEUE, {});
    boss.notifyWorker(ids[(woken += 1) % workers]!);
  });
  await end;
  // It waits for the completion of the last handled job.
  await boss.offWork(QUEUE, { wait: true });
  return count / ((performance.now() - started) / 1_000);
}

async function byFetch(count: number): Promise<number> {
  const started = performance.now();
  await inTurns(workers, count, () => boss.send(QUEUE, {}));
  await inTurns(workers, count, async () => {
    const [job] = await boss.fetch(QUEUE);
    await boss.complete(QUEUE, job!.id);
  });
  return count / ((performance.now() - started) / 1_000);
}

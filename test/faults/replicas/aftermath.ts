import type { TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import type { HistoryRecorder } from './history-recorder.js';
import { sendOnce } from './load.js';
import { loadBreaches } from './load-invariants.js';
import type { LoadLedger } from './load-ledger.js';
import type { Replica } from './replica.js';
import { wrongAnswers } from './seen-by-clients.js';

const WITHIN_MS = 90_000;

/** Rows that exist while work is left, and must not exist afterwards. */
const UNFINISHED = /is still (pending|running)|is active|timer .* is left over|runs open|is running/;

/**
 * Repeats the unanswered requests after all faults, and lets all work finish. Returns one line for each breach in the
 * database, over HTTP and in the logs.
 */
export async function aftermath(
  replicas: readonly Replica[],
  database: TestDatabase,
  ledger: LoadLedger,
  recorder: HistoryRecorder,
  say: (what: string) => void,
): Promise<string[]> {
  const replicaFor = (index: number): Replica => replicas[index % replicas.length]!;
  await Promise.all(
    ledger
      .open()
      .map((request, index) =>
        eventually(
          `${request.key} is answered`,
          () => sendOnce(replicaFor(index), ledger, request, recorder),
          WITHIN_MS,
        ),
      ),
  );
  const isFinished = async (): Promise<boolean> =>
    !(await loadBreaches(database, ledger)).some((breach) => UNFINISHED.test(breach));
  // Work that never finishes is among the breaches below.
  await eventually('no work is left', isFinished, WITHIN_MS).catch((error: Error) => say(error.message));
  say('no work is left');

  // The others know every key too.
  await Promise.all(ledger.keyed().map((request, index) => sendOnce(replicaFor(index), ledger, request, recorder)));
  const [lost] = await database.rows<{ count: number }>(
    'select coalesce(sum(lost_leases), 0) as count from executions',
  );
  say(`${ledger.sent.size} requests, ${ledger.replays} replays, ${lost!.count} leases lost`);
  return [
    ...ledger.wrong,
    ...(await loadBreaches(database, ledger)),
    ...(await wrongAnswers(replicas, database, ledger)),
    ...replicas.flatMap((replica) => [...replica.crashes, ...replica.bugs()]),
  ];
}

import type { TestDatabase } from '../../support/database.js';
import { bodyOf } from './load-invariants.js';
import type { LoadLedger } from './load-ledger.js';
import type { Replica } from './replica.js';
import { BATCH_ROWS } from './requests.js';

/**
 * Compares what each replica returns over HTTP with what was acknowledged, when no work is left; returns one line for
 * each breach.
 */
export async function wrongAnswers(
  replicas: readonly Replica[],
  database: TestDatabase,
  ledger: LoadLedger,
): Promise<string[]> {
  const stored = await database.rows<{ count: number }>('select count(*) as count from artifacts');
  const found = await Promise.all(
    replicas.map((replica, index) => wrongOn(replica, ledger, stored[0]!.count, (n) => n % replicas.length === index)),
  );
  return found.flat();
}

/** Sends every request to one of the replicas. */
async function wrongOn(
  replica: Replica,
  ledger: LoadLedger,
  artifacts: number,
  isAskedHere: (n: number) => boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  const expectAt = async (path: string, holds: (body: never) => boolean): Promise<void> => {
    const response = await fetch(`${replica.url}${path}`);
    const text = await response.text();
    if (response.status !== 200 || !holds(JSON.parse(text) as never))
      wrong.push(`${replica.name} answers GET ${path} with ${response.status} ${text.slice(0, 500)}`);
  };
  await expectAt('/health/ready', ({ status }: { status: string }) => status === 'ok');
  await expectAt(
    '/api/v1/artifacts?limit=1',
    ({ pagination }: { pagination: { total: number } }) => pagination.total === artifacts,
  );
  for (const kind of ['order', 'left', 'right'] as const) {
    for (const [{ n, correlationId }] of ledger.acknowledged(kind)) {
      if (!isAskedHere(n)) continue;
      await expectAt(
        `/api/v1/correlations/${correlationId}/status`,
        ({ state, has_pending_work }: { state: string; has_pending_work: boolean }) =>
          state === 'completed' && !has_pending_work,
      );
    }
  }
  for (const [{ n }, answer] of ledger.acknowledged('run')) {
    if (!isAskedHere(n)) continue;
    const { run_id: id } = bodyOf<{ run_id: string }>(answer);
    await expectAt(
      `/run/${id}`,
      ({ status, result }: { status: string; result: { n: number } }) => status === 'completed' && result.n === n,
    );
  }
  for (const [{ n }, answer] of ledger.acknowledged('batch')) {
    if (!isAskedHere(n)) continue;
    const { batch_id: id } = bodyOf<{ batch_id: string }>(answer);
    const isWhole = ({ results }: { results: { index: number; status: string; result: { n: number } }[] }): boolean =>
      results.length === BATCH_ROWS &&
      results.every(({ index, status, result }, at) => index === at && status === 'completed' && result.n === at);
    await expectAt(`/batch/${id}`, isWhole);
  }
  return wrong;
}

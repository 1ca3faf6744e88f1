import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { count } from './progress-text.js';
import type { Server } from './server.js';

const LOOKED_AT = 20;
const MAX_SHOWN = 3;
const LONGEST = 160;

/** The most frequent errors among a batch's first failed rows, one per line. */
export async function failureReasons(
  server: Server,
  { batch_id: id, failed_items: failed }: BatchBody,
): Promise<string[]> {
  const { results } = await server.get<BatchBody>(
    `/batch/${encodeURIComponent(id)}?results_status=failed&results_limit=${LOOKED_AT}`,
  );
  const times = new Map<string, number>();
  for (const { error = 'no reason given' } of results) times.set(error, (times.get(error) ?? 0) + 1);
  const shown = [...times].sort(([, a], [, b]) => b - a).slice(0, MAX_SHOWN);
  const rest = times.size - shown.length;
  return [
    failed > results.length ? `Why rows failed (the first ${results.length} of ${count(failed)}):` : 'Why rows failed:',
    ...shown.map(([error, rows]) => `  ${rows} x ${oneLine(error)}`),
    ...(rest > 0 ? [`  and ${rest} other ${rest === 1 ? 'reason' : 'reasons'}`] : []),
  ];
}

function oneLine(error: string): string {
  const line = error.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}

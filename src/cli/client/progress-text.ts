import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { Throughput } from './throughput.js';

export const count = (items: number): string => items.toLocaleString('en-US');

export const percentage = (batch: BatchBody): string => `${Math.floor(batch.progress_percentage)}%`;

/** `1,294/3,080 rows, 118/s, 3 failed, 15 s left`. Speed and remaining time are omitted if they are not known. */
export function progressText(
  { completed_items: done, total_items: total, failed_items: failed }: BatchBody,
  throughput: Throughput,
): string {
  const rate = throughput.perSecond;
  const left = throughput.secondsFor(total - done);
  return [
    `${count(done)}/${count(total)} rows`,
    ...(rate === null ? [] : [`${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`]),
    `${count(failed)} failed`,
    ...(left === null || done === total ? [] : [`${duration(left)} left`]),
  ].join(', ');
}

/** The duration in its two largest units. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${count(Math.floor(whole / 3_600))} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** The result of a batch in one line. */
export function summaryOf(batch: BatchBody): string {
  const took =
    batch.started_at && batch.completed_at
      ? `, in ${duration((Date.parse(batch.completed_at) - Date.parse(batch.started_at)) / 1_000)}`
      : '';
  const error = batch.error ? ` (${batch.error})` : '';
  return `Batch ${batch.batch_id} ${batch.status}${error}: ${count(batch.completed_items)} of ${count(batch.total_items)} rows, ${count(batch.failed_items)} failed${took}`;
}

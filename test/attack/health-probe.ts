import { setTimeout as delay } from 'node:timers/promises';

import { deniedMs } from './denied-time.ts';
import { send } from './requests.ts';

const EVERY_MS = 100;
const WITHIN_MS = 1_000;
const GIVEN_UP_AFTER_MS = 10_000;

export interface Health {
  /** The failures so far. */
  failures: string[];
  slowestMs: number;
}

/**
 * Requests `/health/live` until the signal, as a kubelet does: on a new connection each time, with a timeout of one
 * second. Time in which the machine was busy with other processes does not count. `pid` is the process that answers.
 */
export async function probeHealth(url: string, pid: number, signal: AbortSignal): Promise<Health> {
  const health: Health = { failures: [], slowestMs: 0 };
  const denied = (): number => deniedMs(pid) + deniedMs(process.pid);
  while (!signal.aborted) {
    const [began, deniedBefore] = [performance.now(), denied()];
    const { status, error } = await send(url, { path: '/health/live', timeoutMs: GIVEN_UP_AFTER_MS });
    const ms = Math.max(0, Math.round(performance.now() - began - (denied() - deniedBefore)));
    health.slowestMs = Math.max(health.slowestMs, ms);
    if (error !== undefined || status !== 200) health.failures.push(error ?? `status ${status}`);
    else if (ms > WITHIN_MS) health.failures.push(`answered after ${ms} ms`);
    await delay(EVERY_MS);
  }
  return health;
}

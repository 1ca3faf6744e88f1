import { readFileSync } from 'node:fs';

/**
 * Returns the ms that a process's main thread has waited for a CPU so far, which says how busy other processes keep the
 * machine. Returns 0 if the system does not report it.
 */
export function deniedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

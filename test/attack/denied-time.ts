import { readFileSync } from 'node:fs';

/** Ms that a process's main thread has waited for a processor so far: how busy others keep the machine. 0 where the system does not tell. */
export function deniedMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

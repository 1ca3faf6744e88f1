import { readdirSync, readFileSync } from 'node:fs';

import { type PostgresCluster, queryOnce } from '../../support/postgres-cluster.js';

/**
 * Stops every process of the server with SIGSTOP, until the returned function is called: connections stay open without
 * answers.
 */
export async function freeze(cluster: PostgresCluster): Promise<() => void> {
  const [file] = await queryOnce<{ text: string }>(cluster.url(), `select pg_read_file('postmaster.pid') as text`);
  const postmaster = Number(file!.text.split('\n')[0]);
  // The postmaster is stopped first, because it would start others meanwhile.
  process.kill(postmaster, 'SIGSTOP');
  const stopped = [postmaster, ...childrenOf(postmaster)];
  stopped.forEach((pid) => process.kill(pid, 'SIGSTOP'));
  return () => stopped.reverse().forEach((pid) => process.kill(pid, 'SIGCONT'));
}

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);

function parentOf(pid: number): number | null {
  try {
    // The second field is the name in brackets, which may contain spaces.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    );
  } catch {
    return null;
  }
}

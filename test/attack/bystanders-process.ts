// Runs as a separate process that Bystanders starts, so that an attacker who keeps the test process busy does not slow
// these clients. It follows its parent's messages and exits with it.
import { probeHealth } from './health-probe.ts';
import { HonestClients } from './honest-clients.ts';

export type Command = 'count' | 'end';
export type Reply = { served: number } | { failures: string[]; slowestMs: number; refusals: string[] };

const [url, pid] = process.argv.slice(2) as [string, string];
const ending = new AbortController();
const clients = new HonestClients(url, ending.signal);
const working = clients.work();
const probing = probeHealth(url, Number(pid), ending.signal);

process.on('message', (command: Command) => {
  if (command === 'count') process.send!({ served: clients.served } satisfies Reply);
  else void end();
});
process.once('disconnect', () => process.exit());

async function end(): Promise<void> {
  ending.abort();
  await working;
  const reply: Reply = { ...(await probing), refusals: [...clients.refusals].slice(0, 5) };
  process.send!(reply, () => process.exit());
}

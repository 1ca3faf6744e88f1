import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';
import { breaches } from './invariants.js';
import { Ledger, type Order } from './ledger.js';

const CONFIG = new URL('./warehouse/starling.yaml', import.meta.url).pathname;
const ROUNDS = Number(process.env.STARLING_CRASH_ROUNDS ?? 8);
const SENDERS = 12;

/** Runs the built program as a process, its database, HTTP and SIGKILL. Nothing is faked. */
describe(`killed ${ROUNDS} times under load`, () => {
  let folder: string;
  let service: Service | undefined;

  beforeAll(async () => {
    await builtProgram();
    folder = await mkdtemp(join(tmpdir(), 'starling-crash-'));
  });

  afterAll(async () => {
    await service?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it(
    'loses nothing acknowledged, duplicates nothing, and leaves nothing unfinished',
    async () => {
      const random = new Random(printedSeed());
      const ledger = new Ledger();
      const database = await databaseOf(folder);
      const start = (): Promise<Service> =>
        Service.start(['--config', CONFIG, '--database-url', database.url, '--lease', '2s', '--log-level', 'warn']);
      let unfinished: Order[] = [];

      for (let round = 1; round <= ROUNDS; round += 1) {
        service = await start();
        const killed = killAfter(service, random.between(0, 800));
        unfinished = await sendUntilKilled(service, ledger, random, unfinished, killed);
      }

      service = await start();
      // A request whose answer was lost is sent again with its key, and finds the same workflow.
      for (const order of unfinished) expect(await ledger.send(service, order)).toBe(true);
      await eventually('no work is left', () => nothingLeft(service!, database, ledger));
      expect(await breaches(database, ledger)).toEqual([]);
      expect(await service.kill('SIGTERM')).toBe(0);
      console.log(
        `${ROUNDS} kills, ${ledger.acknowledged.size} orders acknowledged, ${ledger.unanswered.size} unanswered`,
      );
    },
    300_000 + ROUNDS * 10_000,
  );
});

async function killAfter(service: Service, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await service.kill('SIGKILL');
}

/** Runs several senders in parallel; returns the orders with a key that got no answer. */
async function sendUntilKilled(
  service: Service,
  ledger: Ledger,
  random: Random,
  again: Order[],
  killed: Promise<void>,
): Promise<Order[]> {
  let running = true;
  const stopped = killed.then(() => {
    running = false;
  });
  const queue = [...again];
  const unanswered: Order[] = [];
  const sender = async (): Promise<void> => {
    while (running) {
      const order = queue.shift() ?? ledger.next(random.next() < 0.3);
      if (!(await ledger.send(service, order)) && order.key) unanswered.push(order);
    }
  };
  await Promise.all([...Array.from({ length: SENDERS }, sender), stopped]);
  return [...unanswered, ...queue];
}

async function nothingLeft(service: Service, database: TestDatabase, ledger: Ledger): Promise<boolean> {
  for (const id of ledger.acknowledged.keys()) {
    const { state } = await service.get<{ state: string }>(`/api/v1/correlations/${id}/status`);
    if (state === 'active') return false;
  }
  return (await breaches(database, ledger)).every(
    (breach) => !/is still (pending|running)|is active|timer .* is left over/.test(breach),
  );
}

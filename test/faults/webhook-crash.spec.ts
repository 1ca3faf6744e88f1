import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import { answers, type Behaviour, Receiver } from '../support/receiver.js';
import { Service } from '../support/service.js';
import { idsOf, outOfOrder } from './delivery-order.js';

const CONFIG = `
types: { Note: {} }
agents:
  copier:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Copy }]
    engine: { kind: function, module: ./done.js }
  stamper:
    consumes: [{ types: [Note] }]
    publishes: [{ type: Stamp }]
    engine: { kind: expression, expression: '{"n": 1.0}' }
`;
const ROUNDS = Number(process.env.STARLING_WEBHOOK_CRASH_ROUNDS ?? 3);
const SENDERS = 6;
const CORRELATIONS = 4;

interface Delivery {
  delivery_id: string;
  state: string;
  correlation_id: string;
  artifact_id: string;
  sequence: number;
}

/** Runs the built program as a process, its database, HTTP on both sides, and SIGKILL. Nothing is faked. */
describe(`killed ${ROUNDS} times while it publishes and delivers`, () => {
  let folder: string;
  let service: Service | undefined;
  let operators: Receiver;
  let clients: Receiver;

  beforeAll(async () => {
    await builtProgram();
    folder = await mkdtemp(join(tmpdir(), 'starling-webhook-crash-'));
    [operators, clients] = await Promise.all([Receiver.start(), Receiver.start()]);
  });

  afterAll(async () => {
    await service?.kill();
    await Promise.all([operators.close(), clients.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it(
    'delivers every artifact to each of its targets, with one id each, in order',
    async () => {
      const random = new Random(printedSeed());
      const database = await databaseOf(folder);
      const config = join(folder, 'starling.yaml');
      await writeFile(config, CONFIG);
      await writeFile(join(folder, 'done.js'), QUEUED['done.js']);
      const args = ['--config', config, '--database-url', database.url, '--lease', '2s', '--log-level', 'warn'];
      const webhooks = [
        '--webhook-url',
        operators.url('/operator'),
        '--outbound-allow',
        '127.0.0.0/8',
        '--webhook-retries',
        '100ms,200ms,400ms,1s,2s,4s,8s,16s,32s',
      ];
      const start = (): Promise<Service> => Service.start([...args, ...webhooks]);
      operators.on('/operator', troubled(random));
      clients.on('/client', troubled(random));

      let published = 0;
      for (let round = 1; round <= ROUNDS; round += 1) {
        service = await start();
        published += await publishUntilKilled(service, round, clients.url('/client'), random.between(50, 800));
      }
      service = await start();
      // One query each: a row that changes its state is in neither of two lists that are read in parallel.
      const open = async (table: string): Promise<number> =>
        (await database.rows(`select id from ${table} where state in ('waiting', 'pending', 'running')`)).length;
      await eventually('every execution has finished', async () => (await open('executions')) === 0);
      await eventually('every delivery has finished', async () => (await open('deliveries')) === 0);

      const owed = await all(service);
      expect(owed.filter(({ state }) => state !== 'delivered')).toEqual([]);
      const { pagination } = await service.get<{ pagination: { total: number } }>('/api/v1/artifacts?limit=1');
      const artifacts = pagination.total;
      // Each artifact goes to the operator's target and to the client's, which every publish names.
      expect(owed).toHaveLength(2 * artifacts);
      expect(artifacts).toBeGreaterThanOrEqual(published);
      for (const receiver of [operators, clients]) {
        expect(idsOf(receiver.received)).toEqual(new Map([...idsOf(receiver.received).keys()].map((key) => [key, 1])));
        expect(outOfOrder(receiver.received)).toEqual([]);
      }
      const arrived = new Set([...operators.received, ...clients.received].map(({ id }) => id));
      expect(owed.filter(({ delivery_id }) => !arrived.has(delivery_id))).toEqual([]);
      expect(await service.kill('SIGTERM')).toBe(0);
      console.log(
        `${ROUNDS} kills, ${artifacts} artifacts, ${operators.received.length + clients.received.length} tries for ${owed.length} deliveries`,
      );
    },
    300_000 + ROUNDS * 10_000,
  );
});

/** Mostly works, sometimes is slow, fails or disconnects in the middle of an answer. */
function troubled(random: Random): Behaviour {
  return (response, received) => {
    const chance = random.next();
    if (chance < 0.03) answers(503)(response, received);
    else if (chance < 0.06) response.destroy();
    else if (chance < 0.2) setTimeout(() => answers(200)(response, received), random.between(1, 60));
    else answers(204)(response, received);
  };
}

/** Runs several senders in parallel into a few correlations; returns how many publishes were answered. */
async function publishUntilKilled(service: Service, round: number, url: string, ms: number): Promise<number> {
  let answered = 0;
  let isKilled = false;
  const sender = async (_: unknown, index: number): Promise<void> => {
    for (let n = 0; !isKilled; n += 1) {
      const headers = {
        'content-type': 'application/json',
        'x-correlation-id': `round-${round}-${(n + index) % CORRELATIONS}`,
      };
      const body = JSON.stringify({ type: 'Note', payload: { round, index, n }, webhook: { url } });
      const response = await fetch(`${service.url}/api/v1/artifacts`, { method: 'POST', headers, body }).catch(
        () => null,
      );
      if (response && response.status !== 200) throw new Error(`a publish was refused: ${await response.text()}`);
      if (response) answered += 1;
    }
  };
  const kill = async (): Promise<void> => {
    // On a busy machine that may take longer than the time after it.
    await eventually('a publish was answered', () => answered > 0);
    await new Promise((resolve) => setTimeout(resolve, ms));
    isKilled = true;
    await service.kill('SIGKILL');
  };
  await Promise.all([kill(), ...Array.from({ length: SENDERS }, sender)]);
  return answered;
}

async function all(service: Service): Promise<Delivery[]> {
  const found: Delivery[] = [];
  for (;;) {
    const { items } = await service.get<{ items: Delivery[] }>(
      `/api/v1/webhooks/deliveries?limit=500&offset=${found.length}`,
    );
    found.push(...items);
    if (items.length < 500) return found;
  }
}

// Turns of singleton while processes stop, leases are lost, and the rule of the agent changes. A lost lease is what the
// death of a process leaves: its executions run under a lease that nothing renews.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Board } from './board.js';
import { change, refusals, refuseSecondTurns } from './one-turn.js';

/** More of them by hand: `STARLING_ROUNDS=100 npm test -- test/e2e/singleton-losses.property`. */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 1);
const STEPS = 25;
const PROCESSES = TEST_DATABASE === 'postgres' ? 3 : 1;
const KEYS = ['k1', 'k2'];
/** The last one: the agent has no rule. */
const RULES = ['skip', 'cancel_running', 'queue', null] as const;

type Rule = (typeof RULES)[number];

const AGENT = `export default async ([{ payload }], { attempt }) => {
  await new Promise((resolve) => setTimeout(resolve, payload.ms));
  if (attempt <= payload.failures) throw new Error('again');
  return null;
};`;

const configOf = (rule: Rule): string => `agents:
  worker:
    consumes: [{ types: [One] }, { types: [Left, Right] }]
${rule === null ? '' : `    singleton: { key: artifact.payload.key, on_conflict: ${rule} }\n`}\
    retry: { attempts: 2, delay: 1ms }
    engine: { kind: function, module: ./run.js }
    concurrency: 20
`;

interface Execution {
  id: string;
  state: string;
  error_type: string | null;
  cancelled_by?: string;
  skipped_for?: string;
}

/** Processes on one database that are stopped and started again, with any rule. */
class Fleet {
  readonly live: Board[] = [];
  readonly refused: string[] = [];
  private readonly folder = new ConfigurationFolder();

  constructor(private readonly random: Random) {}

  get any(): Board {
    return this.live[this.random.between(0, this.live.length - 1)]!;
  }

  async start(rule: Rule, place = this.live.length): Promise<void> {
    this.live[place] = await Board.start(configOf(rule), {
      folder: this.folder.path,
      files: { 'run.js': AGENT },
      settings: { shutdownGraceMs: 0, leaseMs: 3_000 },
    });
  }

  /** Interrupts the executions that it runs. */
  async restart(rule: Rule, place = this.random.between(0, this.live.length - 1)): Promise<void> {
    const board = this.live[place]!;
    await board.close();
    this.refused.push(...refusals(board));
    await this.start(rule, place);
  }

  async remove(): Promise<void> {
    await Promise.all(this.live.map((board) => board.close()));
    await this.live[0]?.app.database.drop();
    this.folder.remove();
  }
}

/** Some of what runs now loses its lease, although its agent continues. */
function loseLeases(random: Random, board: Board): Promise<void> {
  // Otherwise it could be in a deadlock with transactions of the service.
  const locking = TEST_DATABASE === 'postgres' ? 'for update skip locked' : '';
  const some = `select id from executions where state = 'running' and seq % 2 = ${random.between(0, 1)} ${locking}`;
  return change(board, `update executions set lease_owner = 'gone', lease_until = 0 where id in (${some})`);
}

async function retryFailed(board: Board): Promise<void> {
  const { body } = await board.http.get('/api/v1/executions').query({ state: 'failed', limit: 20 }).expect(200);
  const { items } = body as { items: Execution[] };
  // Another event may have retried it, or cancelled its correlation.
  await Promise.all(items.map(({ id }) => board.http.post(`/api/v1/executions/${id}/retry`)));
}

async function publish(random: Random, fleet: Fleet, correlation: string): Promise<void> {
  const payload = {
    key: KEYS[random.between(0, KEYS.length - 1)],
    ms: random.between(0, 60),
    failures: Math.max(0, random.between(-4, 2)),
  };
  const [board, other] = [fleet.any, fleet.any];
  const isJoin = random.between(0, 3) === 0;
  const isCancelled = random.between(0, 9) === 0;
  if (!isJoin) await board.publish('One', payload, { correlation });
  else {
    await board.publish('Left', payload, { correlation });
    await other.publish('Right', payload, { correlation });
  }
  if (isCancelled) await other.http.post(`/api/v1/correlations/${correlation}/cancel`);
}

async function play(random: Random, fleet: Fleet): Promise<string[]> {
  const anyRule = (): Rule => RULES[random.between(0, RULES.length - 1)]!;
  let rule = anyRule();
  for (let n = 0; n < PROCESSES; n += 1) await fleet.start(rule);
  await refuseSecondTurns(fleet.any);
  const correlations: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const together = Array.from({ length: random.between(1, 5) }, (_, n) => `${step}-${n}`);
    correlations.push(...together);
    await Promise.all(together.map((correlation) => publish(random, fleet, correlation)));
    const event = random.between(0, 9);
    if (event < 3) await loseLeases(random, fleet.any);
    else if (event < 5) await fleet.restart(rule);
    // The other processes keep the earlier rule.
    else if (event < 7) await fleet.restart((rule = anyRule()));
    else if (event < 8) await retryFailed(fleet.any);
  }
  return correlations;
}

it(`one execution of a key has its turn while processes, leases and rules come and go (${ROUNDS} rounds)`, async () => {
  const random = new Random(printedSeed());
  for (let round = 0; round < ROUNDS; round += 1) {
    const fleet = new Fleet(random);
    const correlations = await play(random, fleet);
    const board = fleet.any;
    for (const correlation of correlations) await board.ended(correlation);
    const ends: Execution[] = [];
    for (const correlation_id of correlations) {
      const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
      ends.push(...(body as { items: Execution[] }).items);
    }
    await eventually('every request to cancel has been done', async () => {
      return (await board.app.database.rows('select id from cancel_requests')).length === 0;
    });
    expect(await board.app.database.rows('select id from executions where ended_at is null')).toEqual([]);
    // Nothing has kept a turn.
    for (let place = 0; place < PROCESSES; place += 1) await fleet.restart('queue', place);
    for (const key of KEYS) {
      const last = await fleet.any.publish('One', { key, ms: 0, failures: 0 });
      expect(await fleet.any.ended(last)).toMatchObject({ state: 'completed' });
    }
    const refused = [...fleet.refused, ...fleet.live.flatMap(refusals)];
    await fleet.remove();

    expect(refused).toEqual([]);
    // Ten lost leases of one execution would make it fail.
    expect(ends.filter(({ error_type }) => error_type !== null && error_type !== 'Error')).toEqual([]);
  }
}, 600_000);

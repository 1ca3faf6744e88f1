// Turns of singleton while processes stop, leases are lost, and the rule of the agent changes.
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import type { Board } from './board.js';
import { Fleet } from './fleet.js';
import { refusals, refuseSecondTurns } from './one-turn.js';

/** More of them by hand: `STARLING_ROUNDS=100 npm test -- test/e2e/singleton-losses.property`. */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 1);
const STEPS = 25;
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
  await fleet.startAll(configOf(rule));
  await refuseSecondTurns(fleet.any);
  const correlations: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const together = Array.from({ length: random.between(1, 5) }, (_, n) => `${step}-${n}`);
    correlations.push(...together);
    await Promise.all(together.map((correlation) => publish(random, fleet, correlation)));
    const event = random.between(0, 9);
    if (event < 3) await fleet.loseLeases();
    else if (event < 5) await fleet.restart(configOf(rule));
    // The other processes keep the earlier rule.
    else if (event < 7) await fleet.restart(configOf((rule = anyRule())));
    else if (event < 8) await retryFailed(fleet.any);
  }
  return correlations;
}

it(`one execution of a key has its turn while processes, leases and rules come and go (${ROUNDS} rounds)`, async () => {
  const random = new Random(printedSeed());
  for (let round = 0; round < ROUNDS; round += 1) {
    const earlier: string[] = [];
    const fleet = new Fleet(random, { 'run.js': AGENT }, (board) => earlier.push(...refusals(board)));
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
    for (let place = 0; place < Fleet.SIZE; place += 1) await fleet.restart(configOf('queue'), place);
    for (const key of KEYS) {
      const last = await fleet.any.publish('One', { key, ms: 0, failures: 0 });
      expect(await fleet.any.ended(last)).toMatchObject({ state: 'completed' });
    }
    const refused = [...earlier, ...fleet.live.flatMap(refusals)];
    await fleet.remove();

    expect(refused).toEqual([]);
    // Ten lost leases of one execution would make it fail.
    expect(ends.filter(({ error_type }) => error_type !== null && error_type !== 'Error')).toEqual([]);
  }
}, 600_000);

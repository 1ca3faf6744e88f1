import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import type { Board } from './board.js';
import { Replicas } from './replica-boards.js';

/** More of both by hand: `STARLING_ROUNDS=100 npm test -- test/e2e/limits.property`. */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 2);
const EXECUTIONS = 60;
const PROCESSES = TEST_DATABASE === 'postgres' ? 3 : 1;
const AGENTS = ['a', 'b', 'c'];
const KEYS = 3;

interface Rule {
  concurrency: number | null;
  hold: boolean;
  rate: { perSecond: number; burst: number } | null;
  isKeyed: boolean;
}

interface Run {
  round: number;
  /** The execution, which may have several runs. */
  n: number;
  agent: string;
  key: number;
  from: number;
  to: number | null;
}

/** Runs for a while, and sometimes fails at its first attempts. */
const AGENT = `globalThis.limitedRuns ??= [];
export default async ([{ payload }], { attempt, signal }) => {
  const run = { round: payload.round, n: payload.n, agent: payload.agent, key: payload.key, from: performance.now(), to: null };
  globalThis.limitedRuns.push(run);
  // A cancelled execution uses nothing of its limits any more, even if its code continues.
  const end = () => { run.to ??= performance.now(); };
  signal.addEventListener('abort', end);
  await new Promise((resolve) => setTimeout(resolve, payload.ms));
  end();
  if (attempt <= payload.failures) throw new Error('again');
  return null;
};`;

const recorded = (round: number): Run[] =>
  ((globalThis as unknown as { limitedRuns?: Run[] }).limitedRuns ?? []).filter((run) => run.round === round);

const ruleOf = (random: Random): Rule => {
  const kind = random.between(0, 2);
  return {
    concurrency: kind === 1 ? null : random.between(1, 3),
    hold: kind !== 1 && random.between(0, 2) === 0,
    rate: kind === 0 ? null : { perSecond: random.between(50, 400), burst: random.between(1, 5) },
    isKeyed: random.between(0, 1) === 1,
  };
};

const ruleText = ({ concurrency, hold, rate, isKeyed }: Rule): string =>
  JSON.stringify({
    ...(concurrency !== null && { concurrency }),
    ...(hold && { hold }),
    ...(rate && { rate: `${rate.perSecond}/s`, burst: rate.burst }),
    ...(isKeyed && { key: 'payload.key' }),
  });

const configOf = (rules: readonly Rule[], partsOf: ReadonlyMap<string, number[]>): string => `
limits:
${rules.map((rule, index) => `  limit${index}: ${ruleText(rule)}`).join('\n')}
agents:
${AGENTS.map(
  (name) =>
    `  ${name}: { consumes: [{ types: [For_${name}] }], limits: [${partsOf.get(name)!.map((index) => `limit${index}`)}], engine: { kind: function, module: ./run.js }, retry: { attempts: 3, delay: 1ms }, concurrency: 20 }`,
).join('\n')}
`;

const mostAtOnce = (runs: readonly Run[]): number =>
  Math.max(0, ...runs.map(({ from }) => runs.filter((one) => one.from <= from && from < (one.to ?? Infinity)).length));

/** Joins the runs of each execution, which holds a limit with `hold` from its first run to its last one. */
const spansOf = (runs: readonly Run[]): Run[] =>
  [...Map.groupBy(runs, ({ n }) => n).values()].map((own) => ({
    ...own[0]!,
    from: Math.min(...own.map(({ from }) => from)),
    to: Math.max(...own.map(({ to }) => to!)),
  }));

/** `times` are those of the claims (epoch ms, rounded down), by which the rate counts, however late the attempts then begin. */
function expectRate(times: readonly number[], { perSecond, burst }: NonNullable<Rule['rate']>): void {
  if (times.length === 0) return;
  const lasted = Math.max(...times) - Math.min(...times) + 1;
  expect(times.length).toBeLessThanOrEqual(burst + (lasted * perSecond) / 1_000);
}

/**
 * How often nothing of these ran for more than two seconds although the last of them had not started. An executor that is
 * not woken looks again after that time.
 */
function pauses(runs: readonly Run[]): number {
  const sorted = [...runs].sort((one, other) => one.from - other.from);
  let busyUntil = sorted[0]?.to ?? 0;
  let count = 0;
  for (const { from, to } of sorted) {
    if (from - busyUntil > 2_000) count += 1;
    busyUntil = Math.max(busyUntil, to!);
  }
  return count;
}

/** When the attempts of an execution were claimed (epoch ms). */
async function claimTimes(board: Board, correlation: string): Promise<number[]> {
  const { body } = await board.http.get(`/api/v1/correlations/${correlation}/trace`).expect(200);
  const [execution] = (body as { executions: { attempts: { started_at: string }[] }[] }).executions;
  return execution!.attempts.map(({ started_at }) => Date.parse(started_at));
}

it(`random limits are never exceeded, and nothing is lost or stuck (${ROUNDS} rounds)`, async () => {
  const random = new Random(printedSeed());
  for (let round = 0; round < ROUNDS; round += 1) {
    const rules = [ruleOf(random), ruleOf(random), ruleOf(random)];
    const partsOf = new Map(
      AGENTS.map((name) => [name, rules.map((_, index) => index).filter(() => random.between(0, 2) > 0)]),
    );
    for (const [name, parts] of partsOf) if (parts.length === 0) partsOf.set(name, [0]);
    const config = configOf(rules, partsOf);
    const replicas = new Replicas();
    const boards: Board[] = [];
    for (let n = 0; n < PROCESSES; n += 1) boards.push(await replicas.start(config, { files: { 'run.js': AGENT } }));
    const sent: { correlation: string; agent: string; key: number }[] = [];
    for (let n = 0; n < EXECUTIONS; n += 1) {
      const agent = AGENTS[random.between(0, 2)]!;
      const payload = {
        round,
        n,
        agent,
        key: random.between(1, KEYS),
        ms: random.between(0, 8),
        failures: Math.max(0, random.between(-6, 2)),
      };
      const correlation = await boards[random.between(0, PROCESSES - 1)]!.publish(`For_${agent}`, payload);
      sent.push({ correlation, agent, key: payload.key });
    }
    const correlations = sent.map(({ correlation }) => correlation);
    // Some of what waits, is ready or runs is cancelled.
    const cancelled = correlations.filter(() => random.between(0, 9) === 0);
    await Promise.all(cancelled.map((id) => boards[0]!.http.post(`/api/v1/correlations/${id}/cancel`)));
    const states: string[] = [];
    for (const id of correlations) states.push((await boards[0]!.ended(id)).state);
    await eventually('every run has returned', () => recorded(round).every(({ to }) => to !== null));
    const claims = await Promise.all(
      sent.map(async ({ correlation, agent, key }) =>
        (await claimTimes(boards[0]!, correlation)).map((time) => ({ agent, key, time })),
      ),
    );
    await replicas.close();

    const runs = recorded(round);
    expect({ config, left: states.filter((state) => !['completed', 'cancelled'].includes(state)) }).toEqual({
      config,
      left: [],
    });
    // The machine itself may pause for as long.
    expect({ config, isIdle: pauses(runs) > 1 }).toEqual({ config, isIdle: false });
    for (const [index, { concurrency, hold, rate, isKeyed }] of rules.entries()) {
      const counts = ({ agent }: { agent: string }): boolean => partsOf.get(agent)!.includes(index);
      const group = ({ key }: { key: number }): number | null => (isKeyed ? key : null);
      if (concurrency !== null)
        for (const [, some] of Map.groupBy((hold ? spansOf(runs) : runs).filter(counts), group))
          expect({ config, index, isOver: mostAtOnce(some) > concurrency }).toEqual({ config, index, isOver: false });
      if (rate)
        for (const [, some] of Map.groupBy(claims.flat().filter(counts), group))
          expectRate(
            some.map(({ time }) => time),
            rate,
          );
    }
  }
}, 600_000);

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
  rate: { perSecond: number; burst: number } | null;
  isKeyed: boolean;
}

interface Run {
  round: number;
  agent: string;
  key: number;
  from: number;
  to: number | null;
}

/** Runs for a while, and sometimes fails at its first attempts. */
const AGENT = `globalThis.limitedRuns ??= [];
export default async ([{ payload }], { attempt, signal }) => {
  const run = { round: payload.round, agent: payload.agent, key: payload.key, from: performance.now(), to: null };
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
    rate: kind === 0 ? null : { perSecond: random.between(50, 400), burst: random.between(1, 5) },
    isKeyed: random.between(0, 1) === 1,
  };
};

const ruleText = ({ concurrency, rate, isKeyed }: Rule): string =>
  JSON.stringify({
    ...(concurrency !== null && { concurrency }),
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

/** Attempts begin some time after the transaction that lets them start, so only many of them show a rate that is exceeded. */
function expectRate(runs: readonly Run[], { perSecond, burst }: NonNullable<Rule['rate']>): void {
  if (runs.length < 2) return;
  const starts = runs.map(({ from }) => from).sort((one, other) => one - other);
  const lasted = starts.at(-1)! - starts[0]!;
  const LATE_MS = 500;
  expect(starts.length).toBeLessThanOrEqual(burst + ((lasted + LATE_MS) * perSecond) / 1_000 + 1);
}

/** The longest time in which nothing of these ran although the last of them had not started (ms). */
function longestPause(runs: readonly Run[]): number {
  const sorted = [...runs].sort((one, other) => one.from - other.from);
  let busyUntil = sorted[0]?.to ?? 0;
  let longest = 0;
  for (const { from, to } of sorted) {
    longest = Math.max(longest, from - busyUntil);
    busyUntil = Math.max(busyUntil, to!);
  }
  return longest;
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
    const correlations: string[] = [];
    for (let n = 0; n < EXECUTIONS; n += 1) {
      const agent = AGENTS[random.between(0, 2)]!;
      const payload = {
        round,
        agent,
        key: random.between(1, KEYS),
        ms: random.between(0, 8),
        failures: Math.max(0, random.between(-6, 2)),
      };
      correlations.push(await boards[random.between(0, PROCESSES - 1)]!.publish(`For_${agent}`, payload));
    }
    // Some of what waits, is ready or runs is cancelled.
    const cancelled = correlations.filter(() => random.between(0, 9) === 0);
    await Promise.all(cancelled.map((id) => boards[0]!.http.post(`/api/v1/correlations/${id}/cancel`)));
    const states: string[] = [];
    for (const id of correlations) states.push((await boards[0]!.ended(id)).state);
    await eventually('every run has returned', () => recorded(round).every(({ to }) => to !== null));
    await replicas.close();

    const runs = recorded(round);
    expect({ config, left: states.filter((state) => !['completed', 'cancelled'].includes(state)) }).toEqual({
      config,
      left: [],
    });
    // The timeout of a machine that is busy otherwise is part of it.
    expect({ config, isIdle: longestPause(runs) > 2_000 }).toEqual({ config, isIdle: false });
    for (const [index, { concurrency, rate, isKeyed }] of rules.entries()) {
      const own = runs.filter(({ agent }) => partsOf.get(agent)!.includes(index));
      for (const [, some] of Map.groupBy(own, ({ key }) => (isKeyed ? key : null))) {
        if (concurrency !== null)
          expect({ config, index, isOver: mostAtOnce(some) > concurrency }).toEqual({ config, index, isOver: false });
        if (rate) expectRate(some, rate);
      }
    }
  }
}, 600_000);

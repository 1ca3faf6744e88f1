import fc from 'fast-check';

import { printedSeed } from '../support/random.js';
import { type Operation, operations } from './operations.js';
import type { Outcome } from './outcome.js';
import { Simulation } from './simulation.js';
import { makeTemplate, type Template } from './template.js';

const GIVEN = process.env.STARLING_SIMULATION_SEEDS;
/** Without a given number, as many seeds run as fit into this time, and these at least. */
const TIME_MS = 25_000;
const FEWEST = 5;
const FIRST = Number(process.env.STARLING_SIMULATION_SEED ?? printedSeed());
const LONGEST_SHRINKING_MS = 60_000;
/** The first seed and every tenth one after it run twice. */
const TWICE_EVERY = 10;

/** Runs the service in this process; time, turns, ids, agents, clients and the power are those of a seed. */
describe(`${GIVEN ?? 'some'} simulated lives of the service from seed ${FIRST}`, () => {
  let template: Template;
  let failing: number | undefined;

  beforeAll(async () => {
    template = await makeTemplate();
  });

  afterAll(() => template.remove());

  it('keep every promise, and are the same when they run again', async () => {
    const begin = performance.now();
    const total = { turns: 0, crashes: 0, simulatedMs: 0 };
    let seeds = 0;
    const isOver = (): boolean =>
      GIVEN === undefined ? seeds >= FEWEST && performance.now() - begin > TIME_MS : seeds >= Number(GIVEN);
    for (; !isOver(); seeds += 1) {
      const outcome = await checked(FIRST + seeds);
      total.turns += outcome.turns;
      total.crashes += outcome.crashes;
      total.simulatedMs += outcome.simulatedMs;
    }
    const seconds = (performance.now() - begin) / 1_000;
    console.log(
      `${seeds} seeds from ${FIRST} in ${seconds.toFixed(1)} s (${(seeds / seconds).toFixed(2)} per second): ` +
        `${total.turns} turns, ${total.crashes} crashes, ${(total.simulatedMs / 3_600_000).toFixed(1)} simulated hours`,
    );
  }, 86_400_000);

  it('do not begin an execution in the place of one whose outcome a full disk has rolled back', async () => {
    const orders: Operation[] = Array.from({ length: 8 }, () => ({
      kind: 'orders',
      after: 5,
      count: 4,
      keyed: false,
      webhook: false,
    }));
    const fullDisk: Operation = { kind: 'fullDisk', after: 30, pages: 4, ms: 500 };
    const { breaches } = await Simulation.run(0, [...orders, fullDisk, ...orders, fullDisk], template);
    expect(breaches).toEqual([]);
  });

  /** Prints the first failure of a seed before it is shrunk, which takes a while. */
  function printed(seed: number, breaches: readonly string[]): string {
    const text = breaches.slice(0, 5).join('\n');
    if (failing !== seed) process.stderr.write(`seed ${seed}: ${text}\n`);
    failing = seed;
    return text;
  }

  async function checked(seed: number): Promise<Outcome> {
    let last: Outcome | undefined;
    let shrinkUntil = Infinity;
    const kept = async (list: Operation[]): Promise<void> => {
      // Whatever is shorter counts as kept then, which ends the search.
      if (performance.now() > shrinkUntil) return;
      try {
        await keptNow(list);
      } catch (error) {
        shrinkUntil = Math.min(shrinkUntil, performance.now() + LONGEST_SHRINKING_MS);
        throw error;
      }
    };
    const keptNow = async (list: Operation[]): Promise<void> => {
      last = await Simulation.run(seed, list, template);
      if (last.breaches.length > 0) throw new Error(printed(seed, last.breaches));
      if ((seed - FIRST) % TWICE_EVERY !== 0) return;
      const again = await Simulation.run(seed, list, template);
      if (again.trace !== last.trace) throw new Error(`its trace is ${last.trace} and, run again, ${again.trace}`);
    };
    const found = await fc.check(fc.asyncProperty(operations, kept), {
      seed,
      numRuns: 1,
      endOnFailure: process.env.STARLING_SIMULATION_SHRINK === undefined,
    });
    if (!found.failed) return last!;
    const [list] = found.counterexample!;
    throw new Error(
      `seed ${seed} (replay and shrink with npm run simulate -- --seed ${seed}): ` +
        `${(found.errorInstance as Error).message}\nafter ${found.numShrinks} shrinks: ${JSON.stringify(list)}`,
    );
  }
});

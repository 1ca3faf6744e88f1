// Random arrivals at subscriptions with `debounce`, against a model. Uses the whole app over HTTP on a database. The clock is faked.
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { Board } from './board.js';

/** More by hand: `STARLING_ROUNDS=100 npm test -- test/e2e/debounce.property`. */
const ROUNDS = Number(process.env.STARLING_ROUNDS ?? 2);
const ARRIVALS = 40;
const KEYS = 3;

interface Arrival {
  key: number;
  at: number;
  correlation: string;
}

/** The arrivals that run: the last of each window. */
function lastOnes(arrivals: readonly Arrival[], wait: number, atMost: number): Set<string> {
  const runs = new Set<string>();
  for (const ofKey of Map.groupBy(arrivals, ({ key }) => key).values()) {
    let window = null as { opened: number; last: Arrival } | null;
    for (const arrival of ofKey) {
      if (window && arrival.at >= Math.min(window.last.at + wait, window.opened + atMost)) {
        runs.add(window.last.correlation);
        window = null;
      }
      window = { opened: window?.opened ?? arrival.at, last: arrival };
    }
    if (window) runs.add(window.last.correlation);
  }
  return runs;
}

it(`of random arrivals, the last of each window runs, and all others are consumed (${ROUNDS} rounds)`, async () => {
  const random = new Random(printedSeed());
  for (let round = 0; round < ROUNDS; round += 1) {
    const wait = random.between(1, 100);
    const atMost = random.between(wait, 300);
    const clock = new ManualClock();
    const config = `agents:\n  last: { consumes: [{ types: [Edited], debounce: { key: payload.key, wait: ${wait}ms, at_most: ${atMost}ms } }], publishes: [{ type: Indexed }], engine: { kind: expression, expression: "{ 'key': payload.key }" } }\n`;
    const board = await Board.start(config, { clock });
    const arrivals: Arrival[] = [];
    try {
      for (let n = 0; n < ARRIVALS; n += 1) {
        clock.advance(random.between(0, 3) === 0 ? random.between(0, 2 * wait) : random.between(0, wait));
        const key = random.between(1, KEYS);
        arrivals.push({ key, at: clock.now(), correlation: await board.publish('Edited', { key }) });
      }
      clock.advance(atMost);
      const ran = new Set<string>();
      for (const { correlation } of arrivals) {
        expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
        if ((await board.types(correlation)).includes('Indexed')) ran.add(correlation);
      }
      expect({ config, ran: [...ran] }).toEqual({
        config,
        ran: arrivals.map(({ correlation }) => correlation).filter((id) => lastOnes(arrivals, wait, atMost).has(id)),
      });
    } finally {
      await board.close();
    }
  }
});

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h';

const CONFIG = `
limits:
  left: { concurrency: 1 }
  right: { concurrency: 1 }
agents:
  left: { consumes: [{ types: [Left] }], limits: [left], ${GATED} }
  right: { consumes: [{ types: [Right] }], limits: [right], ${GATED} }
  both: { consumes: [{ types: [Both] }], limits: [left, right], ${GATED} }
`;

/** Uses the whole app over HTTP. The clock is faked. */
describe('an execution with two limits, both always taken by others', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: { 'gate.js': GATE }, settings: { shutdownGraceMs: 0 } });
  });
  afterAll(() => board.close());
  // No place is kept any more.
  beforeEach(() => clock.advance(60_000));

  const publish = (type: string, correlation: string): Promise<string> =>
    board.publish(type, { batch: correlation, n: 1 }, { correlation });
  const open = (correlation: string): void => gatesOf(correlation).at(-1)!.open();
  const limitOf = async (correlation: string): Promise<string | null> => {
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    return (body as { items: { limit: string | null }[] }).items[0]?.limit ?? null;
  };
  const waitsFor = (correlation: string, text: string): Promise<void> =>
    eventually(`${correlation} waits for ${text}`, async () => (await limitOf(correlation)) === text);
  const ended = async (...correlations: string[]): Promise<void> => {
    for (const id of correlations) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
  };

  /** Until the one with both limits waits for the left one, and a later one has taken the right one. */
  const overtake = async (name: string): Promise<void> => {
    for (const side of ['left', 'right']) {
      await publish(side === 'left' ? 'Left' : 'Right', `${name}-${side}-1`);
      await started(`${name}-${side}-1`, 1);
    }
    await publish('Both', `${name}-both`);
    await waitsFor(`${name}-both`, 'limit left: 1 of 1 used, 1st of 1');
    await publish('Left', `${name}-left-2`);
    await waitsFor(`${name}-left-2`, 'limit left: 1 of 1 used, 2nd of 2');
    await publish('Right', `${name}-right-2`);
    await waitsFor(`${name}-right-2`, 'limit right: 1 of 1 used, 1st of 1');
    open(`${name}-right-1`);
    await started(`${name}-right-2`, 1);
  };

  it('starts when the other one has room soon, because a place is kept for it', async () => {
    await overtake('a');
    open('a-left-1');
    await waitsFor('a-both', 'limit right: 1 of 1 used, 1st of 1');
    await waitsFor('a-left-2', 'limit left: 0 of 1 used, 1st of 1, next in 0.5 s');
    clock.advance(400);
    open('a-right-2');
    await started('a-both', 1);
    await waitsFor('a-left-2', 'limit left: 1 of 1 used, 1st of 1');
    open('a-both');
    await started('a-left-2', 1);
    open('a-left-2');
    await ended('a-left-1', 'a-left-2', 'a-right-1', 'a-right-2', 'a-both');
  });

  it('lets others take its place after half a second, and gets one again after five seconds', async () => {
    await overtake('b');
    open('b-left-1');
    await waitsFor('b-left-2', 'limit left: 0 of 1 used, 1st of 1, next in 0.5 s');
    clock.advance(500);
    await started('b-left-2', 1);
    // The right one keeps its first place.
    await publish('Right', 'b-right-3');
    await waitsFor('b-right-3', 'limit right: 1 of 1 used, 2nd of 2');
    open('b-right-2');
    await waitsFor('b-right-3', 'limit right: 0 of 1 used, 1st of 1, next in 0.5 s');
    clock.advance(500);
    await started('b-right-3', 1);
    // The left one has kept a place in vain just before.
    await publish('Left', 'b-left-3');
    await waitsFor('b-left-3', 'limit left: 1 of 1 used, 2nd of 2');
    open('b-left-2');
    await started('b-left-3', 1);
    await waitsFor('b-both', 'limit right: 1 of 1 used, 1st of 1');
    clock.advance(5_000);
    await publish('Right', 'b-right-4');
    await waitsFor('b-right-4', 'limit right: 1 of 1 used, 2nd of 2');
    open('b-right-3');
    await waitsFor('b-right-4', 'limit right: 0 of 1 used, 1st of 1, next in 0.5 s');
    open('b-left-3');
    await started('b-both', 1);
    open('b-both');
    await started('b-right-4', 1);
    open('b-right-4');
    await ended('b-left-1', 'b-left-2', 'b-left-3', 'b-right-1', 'b-right-2', 'b-right-3', 'b-right-4', 'b-both');
  });

  it('keeps no place while work that came earlier has the other limit', async () => {
    await publish('Right', 'c-right');
    await started('c-right', 1);
    await publish('Left', 'c-left-1');
    await started('c-left-1', 1);
    await publish('Both', 'c-both');
    await waitsFor('c-both', 'limit left: 1 of 1 used, 1st of 1');
    await publish('Left', 'c-left-2');
    await waitsFor('c-left-2', 'limit left: 1 of 1 used, 2nd of 2');
    open('c-left-1');
    await started('c-left-2', 1);
    open('c-left-2');
    open('c-right');
    await started('c-both', 1);
    open('c-both');
    await ended('c-left-1', 'c-left-2', 'c-right', 'c-both');
  });
});

import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const COLOURS = '{ types: [Red, Blue] }';
const SIDES = '{ types: [Left, Right] }';
const EVENTS = '{ types: [Event], batch: { size: 2 } }';

const configuration = (...subscriptions: string[]): string => `
types: { Red: {}, Blue: {}, Left: {}, Right: {}, Event: {} }
agents:
  pairer:
    consumes: [${subscriptions.join(', ')}]
    publishes: [{ type: Pair }]
    engine: { kind: function, module: ./types.js }
`;

/** Answers with the types of its inputs. */
const TYPES = 'export default async (inputs) => ({ types: inputs.map(({ type }) => type).sort() });';

/**
 * Uses the whole app over HTTP, stopped and started again with another configuration on one database. The clock is
 * faked.
 */
describe('a partly filled join or batch window', () => {
  const clock = new ManualClock();
  let folder: ConfigurationFolder;
  let board: Board;

  beforeEach(() => {
    folder = new ConfigurationFolder();
  });

  const start = async (...subscriptions: string[]): Promise<void> => {
    board = await Board.start(configuration(...subscriptions), {
      clock,
      folder: folder.path,
      files: { 'types.js': TYPES },
    });
  };

  afterEach(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const restart = async (...subscriptions: string[]): Promise<void> => {
    await board.close();
    await start(...subscriptions);
  };

  const pairs = async (correlation: string): Promise<unknown[]> =>
    (await board.artifacts(correlation, { type: 'Pair' })).map(({ payload }) => payload.types);

  it('continues in its own subscription when that has another place', async () => {
    await start(SIDES, EVENTS);
    const sides = await board.publish('Left', {});
    const event = await board.publish('Event', {});
    await restart(COLOURS, EVENTS, SIDES);
    const colours = await board.publish('Red', {}, { correlation: sides });
    await board.publish('Right', {}, { correlation: sides });
    const later = await board.publish('Event', {});
    await eventually(
      'the join and the window are complete',
      async () => (await pairs(sides)).length + (await pairs(later)).length === 2,
    );
    expect(await pairs(sides)).toEqual([['Left', 'Right']]);
    expect(await pairs(later)).toEqual([['Event', 'Event']]);
    await board.publish('Blue', {}, { correlation: colours });
    await eventually('the other join is complete', async () => (await pairs(colours)).length === 2);
    expect(await board.ended(event)).toMatchObject({ state: 'completed' });
  });

  it('continues with another limit, predicate or size', async () => {
    await start(
      '{ types: [Left, Right], join: { within: 5m }, where: "true" }',
      '{ types: [Event], batch: { size: 3, timeout: 1m } }',
    );
    const sides = await board.publish('Left', {});
    await board.publish('Event', {});
    await restart(
      '{ types: [Right, Left], join: { within: 1m } }',
      '{ types: [Event], batch: { size: 2, timeout: 5m }, where: "size(payload) == 0" }',
    );
    await board.publish('Right', {}, { correlation: sides });
    const later = await board.publish('Event', {});
    await board.ended(sides);
    await board.ended(later);
    expect(await pairs(sides)).toEqual([['Left', 'Right']]);
    expect(await pairs(later)).toEqual([['Event', 'Event']]);
  });

  it('waits, and continues when its subscription is back', async () => {
    await start(SIDES);
    const sides = await board.publish('Left', {});
    await restart(COLOURS);
    await board.publish('Right', {}, { correlation: sides });
    await restart(COLOURS, SIDES);
    await board.publish('Right', {}, { correlation: sides });
    await eventually('the join is complete', async () => (await pairs(sides)).length === 1);
  });
});

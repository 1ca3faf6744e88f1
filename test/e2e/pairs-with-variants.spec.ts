// Pairs of rules of which one is variants. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { MINUTE, ONCE, PairsBoard } from './pairs-board.js';

/** Its base answers or fails as `base` says, and its variant works. */
const agent = (name: string, type: string, base: string, more: string): string =>
  `  ${name}: { consumes: [{ types: [${type}] }], publishes: [{ type: Ended }], ${more}, ${ONCE}, engine: { kind: expression, expression: "${base}" }, variants: { other: { share: 50%, expression: "{ 'by': 'other' }" } } }`;

const CONFIG = `
limits:
  calls: { rate: 2/h, burst: 2 }
agents:
${agent('limited', 'Limited', "{ 'by': 'base' }", 'limits: [calls]')}
${agent('broken', 'Broken', '{ "by": payload.missing }'.replaceAll('"', "'"), 'breaker: { failures: 50%, of: 2, open: 5m }')}
`;

describe('variants and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, only, ends, waitsFor } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  /** Each of a few is of one variant with a probability of 2^-19. */
  const NAMES = Array.from({ length: 20 }, (_, n) => `v${n}`);
  const expectBoth = async (names: readonly string[]): Promise<void> => {
    const variants = await Promise.all(names.map(async (name) => (await only(name)).variant));
    expect(new Set(variants)).toEqual(new Set(['base', 'other']));
  };

  it('a limit: all of them share it', async () => {
    const names = NAMES.map((name) => `l${name}`);
    await publish('Limited', names);
    for (const name of names.slice(0, 2)) await ends(name);
    for (const [place, name] of names.slice(2).entries())
      await waitsFor(name, new RegExp(`^limit calls: 2 of 2 used, ${place + 1}.. of 18, next in 1800.0 s$`));
    await pairs.board.http.put('/api/v1/limits/calls').send({}).expect(200);
    for (const name of names) await ends(name);
    await expectBoth(names);
  });

  it('a breaker: the failures of one open it for all', async () => {
    let opened = 0;
    for (let failed = false; !failed; opened += 1) {
      await publish('Broken', [`bo${opened}`]);
      failed = (await pairs.board.ended(`bo${opened}`)).state === 'failed';
    }
    expect(await only(`bo${opened - 1}`)).toMatchObject({ variant: 'base' });
    const names = NAMES.map((name) => `b${name}`);
    await publish('Broken', names);
    for (const [place, name] of names.entries())
      await waitsFor(name, new RegExp(`^breaker of broken: open, ${place + 1}.. of 20, next in 300.0 s$`));
    // Each attempt of the base opens it again.
    for (const name of names)
      await eventually(`${name} has ended`, async () => {
        clock.advance(5 * MINUTE);
        return (await pairs.board.status(name)).state !== 'active';
      });
    await expectBoth(names);
  });
});

import fc from 'fast-check';

import { digestOfVariants, type Variant, variantFor, type Variants, WHOLE } from '../../src/catalog/variants.js';
import { printedSeed } from '../support/random.js';

const CORRELATIONS = 4_000;
/** Five times the largest standard deviation of a share among so many. */
const TOLERANCE = 5 * Math.sqrt(0.25 / CORRELATIONS);

const variantsOf = (shares: readonly number[]): Variants => {
  const all = shares.map((share, index): Variant => ({ name: `v${index}`, share, override: { temperature: index } }));
  return { all, rollback: null, digest: digestOfVariants(all) };
};

/** Shares that are at most the whole together. */
const SHARES = fc
  .array(fc.integer({ min: 0, max: WHOLE }), { minLength: 1, maxLength: 8 })
  .map((weights) => weights.map((weight) => Math.floor(weight / weights.length)));

const ids = (prefix: string): string[] => Array.from({ length: CORRELATIONS }, (_, n) => `${prefix}-${n}`);

it('gives each variant its share of the correlations, whatever their ids look like', () => {
  fc.assert(
    fc.property(SHARES, fc.string(), fc.string(), (shares, agent, prefix) => {
      const variants = variantsOf(shares);
      const chosen = ids(prefix).map((id) => variantFor(agent, variants, id));
      for (const variant of variants.all) {
        const part = chosen.filter((one) => one === variant).length / CORRELATIONS;
        expect(Math.abs(part - variant.share / WHOLE)).toBeLessThan(TOLERANCE);
      }
    }),
    { seed: printedSeed(), numRuns: 20 },
  );
});

it('keeps the variant of a correlation when the last share is raised', () => {
  fc.assert(
    fc.property(SHARES, fc.string(), fc.uuid(), fc.nat(WHOLE), (shares, agent, correlation, more) => {
      const before = variantFor(agent, variantsOf(shares), correlation);
      const rest = WHOLE - shares.reduce((sum, share) => sum + share, 0);
      const raised = shares.with(-1, shares.at(-1)! + Math.min(more, rest));
      if (before) expect(variantFor(agent, variantsOf(raised), correlation)?.name).toBe(before.name);
    }),
    { seed: printedSeed() },
  );
});

// The places were computed with another program: every version must agree with them, or else correlations change their
// variants in an upgrade.
it.each([
  ['router', 'ticket-18', 0.4861147882475514],
  ['router', 'ticket-19', 0.3128611927703133],
  ['half', 'ramp-0', 0.8709207299361736],
])('knows the place of a correlation: %s, %s', (agent, correlation, place) => {
  const share = Math.floor(place * WHOLE);
  expect(variantFor(agent, variantsOf([share]), correlation)).toBeNull();
  expect(variantFor(agent, variantsOf([share + 1]), correlation)).not.toBeNull();
});

it('uses no variant with a share of nothing, and one with a share of everything always', () => {
  const variants = variantsOf([0, WHOLE]);
  for (const id of ids('any')) expect(variantFor('agent', variants, id)?.name).toBe('v1');
});

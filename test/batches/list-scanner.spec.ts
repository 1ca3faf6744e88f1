// Compares the scanner's parts of a body with JSON.parse of the whole, for any split of the text.
import fc from 'fast-check';

import { ListScanner } from '../../src/features/batches/import/list-scanner.js';
import { printedSeed } from '../support/random.js';

const LIMITS = { item: 10_000, rest: 10_000 };

/** Joins the parts of a body. Throws if the text is not JSON. */
function assembled(text: string, cuts: readonly number[]): unknown {
  let items: unknown[] = [];
  const scanner = new ListScanner('batch_inputs', LIMITS, {
    list: () => void (items = []),
    item: (json) => void items.push(JSON.parse(json.toString('utf8'))),
  });
  const bytes = Buffer.from(text);
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (let n = 1; n < places.length; n++) scanner.write(bytes.subarray(places[n - 1], places[n]));
  const body = JSON.parse(scanner.end().toString('utf8')) as Record<string, unknown>;
  return Array.isArray(body?.['batch_inputs']) ? { ...body, batch_inputs: items } : body;
}

const cuts = fc.array(fc.nat(10_000), { maxLength: 12 });
const key = fc.oneof(
  fc.constant('batch_inputs'),
  fc.string({ maxLength: 8 }).filter((name) => name !== '__proto__'),
);
const value = fc.jsonValue({ maxDepth: 3 });
const blanks = fc.constantFrom('', ' ', '\n\t ');

/**
 * Returns texts that JSON.stringify does not write: with blanks, and with keys that are repeated or written with
 * escapes.
 */
const body = fc
  .array(fc.tuple(key, fc.oneof(value, fc.array(value)), blanks, fc.boolean()), { maxLength: 5 })
  .map((members) => {
    const texts = members.map(([name, held, blank, isEscaped]) => {
      const written = isEscaped && name === 'batch_inputs' ? '"batch\\u005finputs"' : JSON.stringify(name);
      return `${blank}${written}${blank}:${blank}${JSON.stringify(held, null, blank.length)}${blank}`;
    });
    return `{${texts.join(',')}}`;
  });

it('its parts make what JSON.parse makes of the whole', () => {
  fc.assert(
    fc.property(body, cuts, (text, places) => expect(assembled(text, places)).toEqual(JSON.parse(text))),
    { seed: printedSeed(), numRuns: 2_000 },
  );
});

it('text that is not JSON is refused in parts too', () => {
  const damage = fc.record({
    at: fc.nat(2_000),
    by: fc.constantFrom('', ',', ']', '[', '}', '{', '"', ':', '1', '\\', ' x'),
  });
  fc.assert(
    fc.property(body, damage, cuts, (text, { at, by }, places) => {
      const place = at % text.length;
      const damaged = text.slice(0, place) + by + text.slice(place + 1);
      const outcome = (parse: () => unknown): unknown => {
        try {
          return parse();
        } catch {
          return 'refused';
        }
      };
      expect(outcome(() => assembled(damaged, places))).toEqual(outcome(() => JSON.parse(damaged)));
    }),
    { seed: printedSeed(), numRuns: 5_000 },
  );
});

it('keeps no more than its limits', () => {
  const long = 'x'.repeat(LIMITS.item);
  const of = (text: string) => () => assembled(text, []);
  expect(of(`{"batch_inputs":["${long}"]}`)).toThrow('batch_inputs[0]: is larger than 10000 bytes');
  expect(of(`{"batch_inputs":[],"other":"${long}"}`)).toThrow(
    'The body is larger than 10000 bytes without the items of batch_inputs',
  );
  const items = Array.from({ length: 1_000 }, () => ({ text: long.slice(100) }));
  expect(assembled(JSON.stringify({ batch_inputs: items }), [])).toEqual({ batch_inputs: items });
});

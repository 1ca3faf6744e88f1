// Compares our search with the runtime's, which is the reference for the meaning of an expression: generated patterns
// of every supported construct, on texts that are short enough for the runtime to try every way.
import { RegExpParser } from '@eslint-community/regexpp';
import fc from 'fast-check';

import { charactersOf } from '../../src/patterns/character-sets.js';
import { Pattern } from '../../src/patterns/pattern.js';
import { PatternError, TOO_LARGE } from '../../src/patterns/pattern-error.js';
import { printedSeed } from '../support/random.js';

/** Characters that some construct treats differently from the others. */
const CHARACTERS = [
  'a',
  'b',
  'Z',
  '0',
  '_',
  '-',
  '.',
  ' ',
  '\n',
  '\r',
  '\u2028',
  '\t',
  '\v',
  '\u00a0',
  '\ufeff',
  '\u180e',
  'é',
  'λ',
  'K',
  '中',
  '\u{1F600}',
  '\ud800',
  '\udc00',
  '٣',
  '^',
  ']',
];

const ESCAPES = [
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\.',
  '\\-',
  '\\/',
  '\\]',
  '\\t',
  '\\n',
  '\\v',
  '\\x00',
  '\\cJ',
  '\\x61',
  '\\u0061',
  '\\u{1F600}',
  '\\ud83d\\ude00',
  '\\p{L}',
  '\\P{L}',
  '\\p{Script=Greek}',
  '\\p{Nd}',
  '\\p{Emoji}',
];
/** Outside of a class, where a bare `-` needs no escape and has none. */
const OUTSIDE = ESCAPES.filter((escape) => escape !== '\\-');

const literal = fc.constantFrom('a', 'b', 'Z', '0', '_', ' ', 'é', 'λ', '中', '\u{1F600}');
const classElement = fc.oneof(
  literal,
  fc.constantFrom(...ESCAPES),
  fc.constantFrom('a-c', '0-9', 'A-Z', '\\u0000-\\u001f', 'À-ÿ', '\\u{1F000}-\\u{1FFFF}', '\\t-\\r'),
);
const characterClass = fc
  .tuple(fc.constantFrom('', '^'), fc.array(classElement, { maxLength: 4 }))
  .map(([negation, elements]) => `[${negation}${elements.join('')}]`);
const assertion = fc.constantFrom('^', '$', '\\b', '\\B');
const quantifier = fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '{0}', '*?', '+?', '??', '{1,2}?');

const { pattern } = fc.letrec<{ pattern: string; alternative: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'pattern' },
    fc.oneof(literal, literal, fc.constant('.'), fc.constantFrom(...OUTSIDE), characterClass),
    tie('pattern').chain((inner) => fc.constantFrom('(', '(?:').map((open) => `${open}${inner})`)),
  ),
  alternative: fc
    .array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc.tuple(tie('atom'), fc.option(quantifier, { nil: '' })).map((parts) => parts.join('')),
        },
        { weight: 1, arbitrary: assertion },
      ),
      { maxLength: 3 },
    )
    .map((elements) => elements.join('')),
  pattern: fc.array(tie('alternative'), { minLength: 1, maxLength: 2 }).map((alternatives) => alternatives.join('|')),
}));

const text = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 8 }).map((characters) => characters.join(''));

it('finds what the runtime finds', () => {
  const found = { yes: 0, no: 0 };
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (source, texts) => {
      const ours = taken(source);
      if (ours === null) return fc.pre(false);
      const native = new RegExp(source, 'u');
      for (const each of texts.filter((candidate) => isReliable(source, candidate))) {
        const expected = native.test(each);
        found[expected ? 'yes' : 'no'] += 1;
        if (ours.test(each) !== expected)
          throw new Error(`${JSON.stringify(source)} on ${JSON.stringify(each)}: must be ${expected}`);
      }
    }),
    { seed: printedSeed(), numRuns: Number(process.env.STARLING_PROPERTY_RUNS ?? 3_000) },
  );
  // Both answers are frequent; otherwise the comparison would say little.
  expect(Math.min(found.yes, found.no)).toBeGreaterThan(2_000);
});

it.each([
  '.',
  '\\0',
  '\\cJ',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\p{L}',
  '\\P{L}',
  '\\p{Surrogate}',
  '\\p{Script_Extensions=Latin}',
  '[^]',
  '[]',
  '[^a\\s]',
  '[\\W_]',
])('%s matches the same characters as in the runtime, out of all', (source) => {
  const native = new RegExp(`^${source}$`, 'u');
  const ours = charactersOf(atomOf(source));
  const differing = Array.from({ length: 0x110000 }, (_, codePoint) => codePoint).filter(
    (codePoint) => native.test(String.fromCodePoint(codePoint)) !== contains(ours, codePoint),
  );
  expect(differing.map((codePoint) => codePoint.toString(16))).toEqual([]);
});

/** The runtime's `\\B` also matches between the two halves of a character, where ECMA-262 has no place. */
const isReliable = (source: string, text: string): boolean =>
  !source.includes('\\B') || !/[\u{10000}-\u{10ffff}]/u.test(text);

/** Returns null if it is one of the few that would need too many states. */
function taken(source: string): Pattern | null {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof PatternError && error.message === TOO_LARGE) return null;
    throw error;
  }
}

function atomOf(source: string): Parameters<typeof charactersOf>[0] {
  const [alternative] = new RegExpParser().parsePattern(source, undefined, undefined, { unicode: true }).alternatives;
  return alternative!.elements[0] as Parameters<typeof charactersOf>[0];
}

function contains(set: readonly number[], codePoint: number): boolean {
  const index = set.findIndex((bound) => bound >= codePoint);
  return index >= 0 && (index % 2 === 1 || set[index] === codePoint);
}

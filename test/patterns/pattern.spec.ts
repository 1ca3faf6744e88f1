// Checks which patterns are accepted, and that the time for a text depends only on its length.
import { Pattern } from '../../src/patterns/pattern.js';
import { PatternError, TOO_LARGE_TOGETHER } from '../../src/patterns/pattern-error.js';
import { PatternBudget } from '../../src/patterns/pattern-work.js';

const MEBIBYTE = 1_048_576;
const TIMES = 16;

describe('patterns', () => {
  it.each([
    [
      'a semantic version',
      '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$',
      '1.2.3-rc.1',
      '1.2.03',
    ],
    [
      'a UUID',
      '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      '01a1fac9-c1b6-76e8-b2a0-ca683ab53276',
      '01a1fac9c1b676e8b2a0ca683ab53276',
    ],
    ['a named group', '^(?<year>\\d{4})-(?<month>0[1-9]|1[0-2])$', '2026-11', '2026-13'],
    ['a part of the text', 'order-\\d{3}', 'see order-471 of May', 'see order-47'],
    ['a whole word', '\\bcat\\b', 'the cat sat', 'concatenate'],
    ['letters of any script', '^[\\p{L} ]{2,40}$', 'Ελένη 中村', 'R2'],
    ['many repetitions', '^[^]{1,65536}$', 'x'.repeat(65_536), 'x'.repeat(65_537)],
    ['everything', '', 'x', null],
  ])('%s', (_, source, fitting, other) => {
    const pattern = new Pattern(source);
    expect(pattern.test(fitting)).toBe(true);
    if (other !== null) expect(pattern.test(other)).toBe(false);
  });

  it.each([
    ['(?=.*\\d).{8,}', /^has \(\?=\.\*\\d\), but lookahead and lookbehind cannot be checked in linear time; .*allOf$/],
    ['(?<!a)b', /lookahead and lookbehind/],
    ['(a)\\1', /^has the back reference \\1, which/],
    ['(?i:a)', /^has \(\?i:, but modifiers/],
    ['a.{0,100}b.{0,100}c', /^is too large to be checked in linear time/],
    ['(?:a{1000}){1000}', /^is too large/],
    ['(?:){1000000000}', /^is too large/],
    ['(?:){0,1000000000}', /^is too large/],
    ['(?:(?:){1000}(?:){1000}){1000000}', /^is too large/],
    ['(?:a{0}){1000000000}', /^is too large/],
    ['(a', /^is not a regular expression: Unterminated group$/],
    ['\\-', /^is not a regular expression: Invalid escape$/],
  ])('%s is refused, with the reason', (source, why) => {
    expect(() => new Pattern(source)).toThrow(PatternError);
    expect(() => new Pattern(source)).toThrow(why);
  });

  it('the patterns of one configuration have a common limit, even if each of them is small enough', () => {
    const budget = new PatternBudget();
    const large = '^[^]{1,65536}$';
    const make = () => {
      for (let number = 0; number < 1_000; number++) new Pattern(large, budget);
    };
    expect(make).toThrow(new PatternError(TOO_LARGE_TOGETHER));
    expect(() => new Pattern('a', budget)).toThrow(/^and the patterns before it are together too large/);
    expect(new Pattern(large).test('x')).toBe(true);
  });

  // The runtime's own search takes far too long for each of these.
  it.each([
    ['^(a+)+$', 'a', '!'],
    ['^(a|a)*$', 'a', '!'],
    ['(a|b)*a(a|b){8}c', 'ab', ''],
    ['^\\S+@\\S+\\.\\S+$', 'a@.', ' '],
    ['^([a-z0-9]+-?)*$', 'a', '_'],
    ['\\s+$', ' ', 'x'],
    ['\\p{L}{2,64}!', '中', ''],
  ])('%s takes time in proportion to the text', (source, repeated, end) => {
    const pattern = new Pattern(source);
    const textOf = (length: number): string => repeated.repeat(length / repeated.length) + end;
    const [short, long] = [textOf(MEBIBYTE / TIMES), textOf(MEBIBYTE)];
    expect(pattern.test(long)).toBe(false);
    // Time that grows with the square would be 256 times as long; a busy machine disturbs both, by a few milliseconds.
    expect(fastest(() => pattern.test(long))).toBeLessThan(5 * TIMES * fastest(() => pattern.test(short)) + 20);
  });
});

/** Returns milliseconds; the fastest of several runs is the least disturbed one. */
function fastest(work: () => void): number {
  const times = Array.from({ length: 9 }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  });
  return Math.min(...times);
}

import { automatonOf } from './automaton.js';
import { type Deterministic, deterministic, MATCHED } from './deterministic.js';
import { PatternBudget, PatternWork } from './pattern-work.js';

/** Code points above this take two units of a string. */
const LAST_UNIT = 0xffff;

/**
 * An ECMA-262 regular expression (with the flag `u`) whose search time is linear in the length of any text. The
 * runtime's own implementation backtracks, and a text of a few bytes can keep it busy for years. `@bufbuild/re2`, which
 * CEL's `matches` uses, was tried and rejected: JSON Schema patterns are ECMA-262, and RE2 has a different syntax; it
 * took 60 to 500 ms for a megabyte of text instead of 6 ms; and it keeps states that it makes while it reads a text.
 */
export class Pattern {
  private readonly automaton: Deterministic;

  /**
   * Throws a PatternError if it is not a regular expression, cannot be matched in linear time, or does not fit into
   * `budget`.
   */
  constructor(
    readonly source: string,
    budget = new PatternBudget(),
  ) {
    const work = new PatternWork(budget);
    this.automaton = deterministic(automatonOf(source, work), work);
  }

  /** Whether some part of `text` matches. */
  test(text: string): boolean {
    const { alphabet, table, first, matchesAtEnd } = this.automaton;
    const { size } = alphabet;
    let state = first;
    for (let index = 0; index < text.length && state > MATCHED; index++) {
      const codePoint = text.codePointAt(index)!;
      if (codePoint > LAST_UNIT) index++;
      state = table[state * size + alphabet.classOf(codePoint)]!;
    }
    return matchesAtEnd[state] === 1;
  }

  /** Ajv identifies patterns by this text. */
  toString(): string {
    return this.source;
  }
}

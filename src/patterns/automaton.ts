import { type AST, RegExpParser } from '@eslint-community/regexpp';

import { type CharacterNode, charactersOf } from './character-sets.js';
import type { CodePoints } from './code-points.js';
import { PatternError, TOO_LARGE } from './pattern-error.js';
import type { PatternWork } from './pattern-work.js';

/** A step of a nondeterministic automaton. `next` holds positions of steps. */
export type Step =
  | { kind: 'characters'; characters: CodePoints; next: number }
  | { kind: 'fork'; next: number[] }
  | Assertion
  | { kind: 'match' };

/** A condition at a place in the text. It consumes no character. */
export type Assertion =
  | { kind: 'start'; next: number }
  | { kind: 'end'; next: number }
  | { kind: 'word_boundary'; negate: boolean; next: number };

export interface Automaton {
  steps: readonly Step[];
  first: number;
}

const MATCH = 0;
/** The limit of steps, because counted repetitions are expanded. */
const MOST_STEPS = 500_000;

/**
 * Builds the automaton of an ECMA-262 pattern with the flag `u`. Throws a PatternError if it is invalid or not
 * supported.
 */
export function automatonOf(pattern: string, work: PatternWork): Automaton {
  const steps: Step[] = [{ kind: 'match' }];
  const first = new Builder(steps, work).alternatives(parse(pattern).alternatives, MATCH);
  return { steps, first };
}

function parse(pattern: string): AST.Pattern {
  try {
    return new RegExpParser().parsePattern(pattern, undefined, undefined, { unicode: true });
  } catch (error) {
    throw new PatternError(
      `is not a regular expression: ${(error as Error).message.replace(/^Invalid regular expression: \/.*\/u?: /s, '')}`,
    );
  }
}

/** Builds from the end of the pattern to its beginning, so that the step after each part is known. */
class Builder {
  /** Cache, because repeated parts are built several times with the same characters. */
  private readonly characters = new Map<CharacterNode, CodePoints>();

  constructor(
    private readonly steps: Step[],
    private readonly work: PatternWork,
  ) {}

  alternatives(alternatives: readonly AST.Alternative[], next: number): number {
    const firsts = [...new Set(alternatives.map((alternative) => this.alternative(alternative, next)))];
    return firsts.length === 1 ? firsts[0]! : this.add({ kind: 'fork', next: firsts });
  }

  private alternative({ elements }: AST.Alternative, next: number): number {
    this.work.count();
    return elements.reduceRight((following, element) => this.element(element, following), next);
  }

  private element(element: AST.Element, next: number): number {
    // Counted here because an empty part adds no step, no matter how often it is repeated.
    this.work.count();
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        return this.add({ kind: 'characters', characters: this.charactersOf(element), next });
      case 'Group':
        if (element.modifiers !== null)
          throw new PatternError(`has (?${element.modifiers.raw}:, but modifiers are not supported`);
        return this.alternatives(element.alternatives, next);
      case 'CapturingGroup':
        return this.alternatives(element.alternatives, next);
      case 'Quantifier':
        return this.repetition(element, next);
      case 'Assertion':
        return this.assertion(element, next);
      case 'Backreference':
        throw new PatternError(`has the back reference ${element.raw}, which cannot be checked in linear time`);
      case 'ExpressionCharacterClass':
        throw new PatternError('has a class that needs the flag v');
    }
  }

  private assertion(assertion: AST.Assertion, next: number): number {
    switch (assertion.kind) {
      case 'start':
      case 'end':
        return this.add({ kind: assertion.kind, next });
      case 'word':
        return this.add({ kind: 'word_boundary', negate: assertion.negate, next });
      case 'lookahead':
      case 'lookbehind':
        throw new PatternError(
          `has ${assertion.raw}, but lookahead and lookbehind cannot be checked in linear time; to require several patterns, use allOf`,
        );
    }
  }

  private repetition({ element, min, max }: AST.Quantifier, next: number): number {
    let first = max === Infinity ? this.loop(element, next) : next;
    if (max !== Infinity)
      for (let more = min; more < max; more++)
        first = this.add({ kind: 'fork', next: [this.element(element, first), next] });
    for (let times = 0; times < min; times++) first = this.element(element, first);
    return first;
  }

  private loop(element: AST.QuantifiableElement, next: number): number {
    const fork = { kind: 'fork' as const, next: [next] };
    const first = this.add(fork);
    fork.next.push(this.element(element, first));
    return first;
  }

  private charactersOf(node: CharacterNode): CodePoints {
    const characters = this.characters.get(node) ?? charactersOf(node);
    this.characters.set(node, characters);
    return characters;
  }

  private add(step: Step): number {
    if (this.steps.length >= MOST_STEPS) throw new PatternError(TOO_LARGE);
    return this.steps.push(step) - 1;
  }
}

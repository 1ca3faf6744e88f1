import { Alphabet } from './alphabet.js';
import type { Assertion, Automaton, Step } from './automaton.js';
import { WORD } from './character-sets.js';
import type { PatternWork } from './pattern-work.js';

/** States that every deterministic automaton has. */
export const FAILED = 0;
export const MATCHED = 1;
const FIRST = 2;

/** The kind of character before a place in the text, as far as the pattern depends on it. */
type Before = 'start' | 'word' | 'other';
type After = 'word' | 'other' | 'end';

/** A state whose transitions are not computed yet. */
interface Open {
  /** Steps that consume a character or depend on the next one. */
  steps: number[];
  before: Before;
  looks: boolean;
}

export interface Deterministic {
  alphabet: Alphabet;
  first: number;
  /** The next state for a state and a class, at `state * alphabet.size + class`. */
  table: Int32Array;
  /** For each state: 1 if a text that ends in it matches. */
  matchesAtEnd: Uint8Array;
}

/**
 * Makes every state before any matching, so that no text can add states. Throws a PatternError if there are too many.
 */
export const deterministic = (automaton: Automaton, work: PatternWork): Deterministic =>
  new SubsetConstruction(automaton, work).run();

class SubsetConstruction {
  private readonly steps: readonly Step[];
  private readonly asksForWords: boolean;
  private readonly alphabet: Alphabet;
  private readonly wordClasses: ReadonlySet<number>;
  /** For each step that consumes a character: a flag for each class that it accepts. */
  private readonly taken: (Uint8Array | null)[];
  private readonly states = new Map<string, number>();
  private readonly open: Open[] = [];
  private readonly table: number[] = [];
  private readonly matchesAtEnd: number[] = [0, 1];

  constructor(
    private readonly automaton: Automaton,
    private readonly work: PatternWork,
  ) {
    this.steps = automaton.steps;
    this.asksForWords = this.steps.some(({ kind }) => kind === 'word_boundary');
    const sets = new Set(this.steps.flatMap((step) => (step.kind === 'characters' ? [step.characters] : [])));
    if (this.asksForWords) sets.add(WORD);
    this.alphabet = new Alphabet([...sets]);
    this.wordClasses = new Set(this.asksForWords ? this.alphabet.classesOf(WORD) : []);
    const classes = new Map([...sets].map((set) => [set, this.flags(this.alphabet.classesOf(set))]));
    this.taken = this.steps.map((step) => (step.kind === 'characters' ? classes.get(step.characters)! : null));
  }

  run(): Deterministic {
    const { size } = this.alphabet;
    this.table.push(...Array<number>(size).fill(FAILED), ...Array<number>(size).fill(MATCHED));
    const first = this.stateOf([this.automaton.first], 'start');
    for (const state of this.open) this.complete(state);
    return {
      alphabet: this.alphabet,
      first,
      table: Int32Array.from(this.table),
      matchesAtEnd: Uint8Array.from(this.matchesAtEnd),
    };
  }

  private complete(state: Open): void {
    for (let character = 0; character < this.alphabet.size; character++) this.table.push(this.after(state, character));
    this.matchesAtEnd.push(this.looking(state, 'end') === null ? 1 : 0);
  }

  private after(state: Open, character: number): number {
    const kind = this.wordClasses.has(character) ? 'word' : 'other';
    const here = this.looking(state, kind);
    if (here === null) return MATCHED;
    const next = here.flatMap((position) =>
      this.taken[position]?.[character] === 1 ? [(this.steps[position] as { next: number }).next] : [],
    );
    // A match may begin at any place.
    return this.stateOf([...next, this.automaton.first], kind);
  }

  private stateOf(next: readonly number[], before: Before): number {
    const steps = this.reached(next, before, null);
    if (steps === null) return MATCHED;
    const alive = steps.filter((position) => this.steps[position]!.kind !== 'start').sort((one, other) => one - other);
    if (alive.length === 0) return FAILED;
    const name = `${before} ${alive.join()}`;
    const known = this.states.get(name);
    if (known !== undefined) return known;
    const state = FIRST + this.states.size;
    this.states.set(name, state);
    this.open.push({
      steps: alive,
      before,
      looks: alive.some((position) => this.steps[position]!.kind !== 'characters'),
    });
    return state;
  }

  private looking({ steps, before, looks }: Open, after: After): number[] | null {
    return looks ? this.reached(steps, before, after) : steps;
  }

  /**
   * The steps that can be reached without consuming a character; null if the pattern matches. `after`: what follows, if
   * known.
   */
  private reached(from: readonly number[], before: Before, after: After | null): number[] | null {
    const seen = new Set(from);
    for (const position of seen) {
      this.work.count();
      const step = this.steps[position]!;
      if (step.kind === 'match') return null;
      if (step.kind === 'fork') for (const next of step.next) seen.add(next);
      else if (step.kind !== 'characters' && holds(step, before, after)) seen.add(step.next);
    }
    return [...seen].filter((position) => this.steps[position]!.kind !== 'fork');
  }

  private flags(classes: readonly number[]): Uint8Array {
    const flags = new Uint8Array(this.alphabet.size);
    for (const each of classes) flags[each] = 1;
    return flags;
  }
}

/** Whether an assertion holds at a place. */
function holds(step: Assertion, before: Before, after: After | null): boolean {
  if (step.kind === 'start') return before === 'start';
  if (step.kind === 'end') return after === 'end';
  return after !== null && ((before === 'word') !== (after === 'word')) !== step.negate;
}

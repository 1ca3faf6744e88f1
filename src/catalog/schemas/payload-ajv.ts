import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { Pattern } from '../../patterns/pattern.js';
import { PatternError } from '../../patterns/pattern-error.js';
import type { PatternBudget } from '../../patterns/pattern-work.js';
import { addEqualValues } from './equal-values.js';
import { addEvaluatedNames } from './evaluated-names.js';
import { addSafeFormats } from './formats.js';

const DRAFTS = {
  'https://json-schema.org/draft/2020-12/schema': Ajv2020,
  'http://json-schema.org/draft-07/schema': Ajv,
};

export type Draft = keyof typeof DRAFTS;

export const DRAFT_NAMES = Object.keys(DRAFTS) as Draft[];

/**
 * Makes an Ajv instance for one schema, because `$id`s of different types must not collide. Patterns and formats take
 * time proportional to the text, which clients choose.
 */
export function newAjv(draft: Draft, patterns: Patterns, options: Options): Ajv {
  const code = { regExp: Object.assign((source: string) => patterns.get(source), { code: 'pattern' }) };
  const ajv = new DRAFTS[draft]({ strict: false, verbose: true, ownProperties: true, code, ...options });
  addSafeFormats(ajv);
  addEqualValues(ajv);
  addEvaluatedNames(ajv);
  return ajv;
}

/** The patterns of one schema. Each is compiled once. */
export class Patterns {
  private readonly made = new Map<string, Pattern>();
  /** Why a pattern cannot be used, by pattern. */
  readonly refused = new Map<string, string>();

  constructor(private readonly budget: PatternBudget) {}

  get(source: string): { test(text: string): boolean } {
    const known = this.made.get(source);
    if (known) return known;
    try {
      const pattern = new Pattern(source, this.budget);
      this.made.set(source, pattern);
      return pattern;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      this.refused.set(source, error.message);
      // The schema is refused because of it, so the result does not matter.
      return { test: () => false };
    }
  }
}

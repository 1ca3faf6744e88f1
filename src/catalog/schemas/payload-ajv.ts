import { _, Ajv, type CodeKeywordDefinition, Name, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';

import { Pattern } from '../../patterns/pattern.js';
import { PatternError } from '../../patterns/pattern-error.js';
import type { PatternBudget } from '../../patterns/pattern-work.js';
import { addEqualValues } from './equal-values.js';

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

/**
 * Ajv keeps the names that an `anyOf` or `$ref` has evaluated as fields of an object, and `unevaluatedProperties` finds
 * inherited ones such as `constructor` among them. Without a prototype there are none.
 */
function addEvaluatedNames(ajv: Ajv): void {
  const rule = ajv.RULES.all.unevaluatedProperties as { definition: CodeKeywordDefinition } | undefined;
  // Draft-07 does not have the keyword.
  if (!rule) return;
  const { code } = rule.definition;
  rule.definition = {
    ...rule.definition,
    code: (context, type) => {
      const { props } = context.it;
      if (props instanceof Name)
        context.gen.if(_`${props} && ${props} !== true`, () =>
          context.gen.code(_`Object.setPrototypeOf(${props}, null)`),
        );
      code(context, type);
    },
  };
}

const LONGEST_REGEX = 10_000;

/**
 * Adds the formats of JSON Schema. They check texts of clients on the main thread, so each must take time proportional
 * to the text. Two formats of ajv-formats do not, and are replaced.
 */
function addSafeFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('url', isUrl);
  ajv.addFormat('regex', isRegex);
}

// `\S+(?::\S*)?` before an `@` matches the same as `\S+`, but tries every colon for every `@`.
const URL_FORM = new RegExp((fullFormats.url as RegExp).source.replace('\\S+(?::\\S*)?@', '\\S+@'), 'iu');
const WHITE_SPACE = /\s/;

/** In a text without white space, nothing after the host can make it try the next `@`. */
const isUrl = (text: string): boolean => !WHITE_SPACE.test(text) && URL_FORM.test(text);

/** The length is limited because the runtime takes a quarter of a second to parse an expression of one megabyte. */
const isRegex = (text: string): boolean =>
  text.length <= LONGEST_REGEX && (fullFormats.regex as (text: string) => boolean)(text);

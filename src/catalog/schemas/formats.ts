import type { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';

const LONGEST_REGEX = 10_000;

/**
 * Adds the formats of JSON Schema. They check texts of clients on the main thread, so each must take time proportional
 * to the text. Two formats of ajv-formats do not, and are replaced.
 */
export function addSafeFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('url', isUrl);
  ajv.addFormat('regex', isRegex);
}

// `\S+(?::\S*)?` before an `@` matches the same as `\S+`, but tries every colon for every `@`.
const URL_FORM = new RegExp((fullFormats.url as RegExp).source.replace('\\S+(?::\\S*)?@', '\\S+@'), 'iu');
const WHITE_SPACE = /\s/;

/** Without white space, nothing after the host can make it try the next `@`. */
const isUrl = (text: string): boolean => !WHITE_SPACE.test(text) && URL_FORM.test(text);

/** The length is limited because the runtime takes a quarter of a second to parse an expression of one megabyte. */
const isRegex = (text: string): boolean =>
  text.length <= LONGEST_REGEX && (fullFormats.regex as (text: string) => boolean)(text);

import type { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';

const LONGEST_REGEX = 10_000;

/**
 * The formats of JSON Schema. They check texts of clients on the main thread, and so each has to take time in proportion to the text.
 * Two of ajv-formats' do not.
 */
export function addSafeFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('url', isUrl);
  ajv.addFormat('regex', isRegex);
}

// `\S+(?::\S*)?` before an `@` says no more than `\S+`, and tries every colon for every `@`.
const URL_FORM = new RegExp((fullFormats.url as RegExp).source.replace('\\S+(?::\\S*)?@', '\\S+@'), 'iu');
const WHITE_SPACE = /\s/;

/** With white space ruled out, nothing behind the host can make it try the next `@`. */
const isUrl = (text: string): boolean => !WHITE_SPACE.test(text) && URL_FORM.test(text);

/** The runtime takes a quarter of a second to read one of a megabyte. */
const isRegex = (text: string): boolean => text.length <= LONGEST_REGEX && (fullFormats.regex as (text: string) => boolean)(text);

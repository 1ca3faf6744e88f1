import type { JsonObject } from '../../common/json.js';

const MOST_CHARACTERS = 200;
const PATTERN = '^(?!(?:__proto__|\\.\\.?)$)[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$';

export const NAME_RULE =
  'is not a valid name: use 1 to 200 characters, without control characters and without spaces at its ends, other than . and ..';

/**
 * The loader shows `errorMessage` and, for the form of an object, `objectMessage` instead of "must match pattern".
 * Editors know only the first, and in an object would show it for an unknown key too, instead of the key.
 */
export const nameSchema: JsonObject = {
  type: 'string',
  maxLength: MOST_CHARACTERS,
  pattern: PATTERN,
  errorMessage: NAME_RULE,
};

export const isName = (text: string): boolean => text.length <= MOST_CHARACTERS && new RegExp(PATTERN, 'u').test(text);

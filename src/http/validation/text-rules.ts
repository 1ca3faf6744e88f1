import { isShortText, MAX_SHORT_TEXT, SHORT_TEXT_RULE } from '../../common/short-text.js';
import { ValidateBy } from './class-validator.js';

/** The rule of `isShortText` for the OpenAPI document. */
export const SHORT_TEXT_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_SHORT_TEXT,
  pattern: '^[^\\u0000]*$',
} as const;

/** Validates a body field whose text is stored in an index. */
export const IsShortText = (options: { each?: boolean } = {}): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isShortText',
      validator: {
        validate: isShortText,
        defaultMessage: () =>
          options.each ? `each value in $property must be ${SHORT_TEXT_RULE}` : `must be ${SHORT_TEXT_RULE}`,
      },
    },
    options,
  );

/** The characters that a header carries unchanged. Ids that are sent in headers consist of them. */
export const isVisibleAscii = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength && /^[\x21-\x7e]+$/.test(value);

export const visibleAsciiRule = (maxLength: number): string => `must be 1 to ${maxLength} visible ASCII characters`;

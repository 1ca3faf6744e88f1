import { ValidateBy } from 'class-validator';
import { isShortText, SHORT_TEXT_RULE } from '../common/short-text.js';

/** A body field of a text that an index holds. */
export const IsShortText = (options: { each?: boolean } = {}): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isShortText',
      validator: {
        validate: isShortText,
        defaultMessage: () => (options.each ? `each value in $property must be ${SHORT_TEXT_RULE}` : `must be ${SHORT_TEXT_RULE}`),
      },
    },
    options,
  );

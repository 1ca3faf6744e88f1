import { applyDecorators } from '@nestjs/common';

import { ApiProperty } from '../openapi/documentation.js';
import { ValidateBy } from './class-validator.js';
import { IfGiven } from './field-rules.js';
import { parseTimestamp, TIMESTAMP_RULE } from './query.js';

/** A body field with an ISO 8601 timestamp, which `parseTimestamp` reads. */
export const BodyTimestamp = ({
  required = false,
  ...documentation
}: {
  description: string;
  example: string;
  required?: boolean;
}): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, required, format: 'date-time', maxLength: 64, ...documentation }),
    ...(required ? [] : [IfGiven()]),
    ValidateBy({
      name: 'isTimestamp',
      validator: {
        validate: (value) => typeof value === 'string' && value.length <= 64 && parseTimestamp(value) !== undefined,
        defaultMessage: () => `is not a time; ${TIMESTAMP_RULE}`,
      },
    }),
  );

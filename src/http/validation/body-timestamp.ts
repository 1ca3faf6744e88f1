import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

import { IfGiven } from './field-rules.js';
import { parseTimestamp, TIMESTAMP_RULE } from './query.js';

/** An optional body field with an ISO 8601 timestamp, which `parseTimestamp` reads. */
export const BodyTimestamp = (documentation: { description: string; example: string }): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: String, required: false, format: 'date-time', maxLength: 64, ...documentation }),
    IfGiven(),
    ValidateBy({
      name: 'isTimestamp',
      validator: {
        validate: (value) => typeof value === 'string' && value.length <= 64 && parseTimestamp(value) !== undefined,
        defaultMessage: () => `is not a time; ${TIMESTAMP_RULE}`,
      },
    }),
  );

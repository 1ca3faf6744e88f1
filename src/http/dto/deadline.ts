import { applyDecorators } from '@nestjs/common';

import { parseDuration } from '../../common/units.js';
import { ApiProperty } from '../openapi/documentation.js';
import { ValidateBy } from '../validation/class-validator.js';
import { IfGiven } from '../validation/field-rules.js';
import { DURATION_SCHEMA } from './api-visibility.js';

// The same limit as for the `ttl` of an `After` visibility.
const MAX_MS = 36_525 * 86_400_000;

/** Decorates a request field that limits how long the resulting work may take. Includes the documentation. */
export const Deadline = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description:
        'A duration of at most 100 years, such as PT5M or 5m. Work that has not ended by then is cancelled. If one generation of a correlation has several, the earliest applies.',
      ...DURATION_SCHEMA,
      required: false,
      example: 'PT5M',
    }),
    IfGiven(),
    ValidateBy({
      name: 'isDeadline',
      validator: {
        validate: (value) => typeof value === 'string' && isDeadline(parseDuration(value)),
        defaultMessage: () =>
          'must be a duration above zero and of at most 100 years, such as 5m or PT5M (without years or months)',
      },
    }),
  );

const isDeadline = (ms: number | null): boolean => ms !== null && ms > 0 && ms <= MAX_MS;

/** Milliseconds of a validated deadline. */
export const deadlineMs = (deadline: string | undefined): number | null =>
  deadline === undefined ? null : parseDuration(deadline);

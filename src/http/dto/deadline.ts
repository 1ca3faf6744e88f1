import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { parseIsoDuration } from '../../common/durations.js';
import { ISO_DURATION_SCHEMA } from './api-visibility.js';
import { IfGiven } from '../validation/if-given.js';

// As far as an artifact may be hidden (catalog/parse-visibility.ts).
const MAX_MS = 36_525 * 86_400_000;

/** A field of a request, with its documentation: how long what follows from it may take. */
export const Deadline = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description:
        'ISO 8601 duration, of at most 100 years: what has not ended when it has passed is cancelled. Of several for one generation of a correlation the earliest holds',
      ...ISO_DURATION_SCHEMA,
      required: false,
      example: 'PT5M',
    }),
    IfGiven(),
    ValidateBy({
      name: 'isDeadline',
      validator: {
        validate: (value) => typeof value === 'string' && isDeadline(parseIsoDuration(value)),
        defaultMessage: () => 'must be an ISO 8601 duration of at most 100 years and more than no time, such as PT5M',
      },
    }),
  );

const isDeadline = (ms: number | null): boolean => ms !== null && ms > 0 && ms <= MAX_MS;

/** Milliseconds of a checked one. */
export const deadlineMs = (deadline: string | undefined): number | null => (deadline === undefined ? null : parseIsoDuration(deadline));

import { findRateProblem, MOST_BURST, MOST_CONCURRENCY, RATE_PATTERN } from '../../../catalog/limits.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsInt, Max, Min, ValidateBy } from '../../../http/validation/class-validator.js';
import { IfGiven } from '../../../http/validation/field-rules.js';

/** The values of a limit. Without any, it limits nothing. */
export class LimitRequest {
  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_CONCURRENCY,
    description: 'Executions that may run at the same time, for each key. Absent: any number',
    example: 20,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_CONCURRENCY)
  concurrency?: number;

  @ApiProperty({
    required: false,
    pattern: RATE_PATTERN,
    maxLength: 30,
    description: 'Attempts that may start in a time, for each key: 60/m or 5/10s. Absent: any number',
    example: '60/m',
  })
  @IfGiven()
  @ValidateBy({
    name: 'isRate',
    validator: {
      validate: (value) => findRateProblem(value) === null,
      defaultMessage: (given) => findRateProblem(given?.value) ?? '',
    },
  })
  rate?: string;

  @ApiProperty({
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_BURST,
    description: 'Units of the rate that may start together after a pause',
    example: 10,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_BURST)
  burst?: number;
}

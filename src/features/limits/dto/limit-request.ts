import { findRateProblem, MOST_BURST, MOST_CONCURRENCY, RATE_PATTERN } from '../../../catalog/limits.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsInt, Max, Min, ValidateBy, ValidateIf } from '../../../http/validation/class-validator.js';

/** Null is the same as absent, so that clients can send the values that they have got. */
const IfNotNull = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined && value !== null);

/** The values of a limit. Without any, it limits nothing. */
export class LimitRequest {
  @ApiProperty({
    type: 'integer',
    required: false,
    nullable: true,
    minimum: 1,
    maximum: MOST_CONCURRENCY,
    description: 'Executions that may run at the same time, for each key. Absent or null: any number',
    example: 20,
  })
  @IfNotNull()
  @IsInt()
  @Min(1)
  @Max(MOST_CONCURRENCY)
  concurrency?: number | null;

  @ApiProperty({
    type: String,
    required: false,
    nullable: true,
    pattern: RATE_PATTERN,
    maxLength: 30,
    description: 'Attempts that may start in a time, for each key: 60/m or 5/10s. Absent: any number',
    example: '60/m',
  })
  @IfNotNull()
  @ValidateBy({
    name: 'isRate',
    validator: {
      validate: (value) => findRateProblem(value) === null,
      defaultMessage: (given) => findRateProblem(given?.value) ?? '',
    },
  })
  rate?: string | null;

  @ApiProperty({
    type: 'integer',
    required: false,
    nullable: true,
    minimum: 1,
    maximum: MOST_BURST,
    description: 'Units of the rate that may start together after a pause',
    example: 10,
  })
  @IfNotNull()
  @IsInt()
  @Min(1)
  @Max(MOST_BURST)
  burst?: number | null;
}

import { findRateProblem, MOST_BURST, MOST_CONCURRENCY, RATE_PATTERN } from '../../../catalog/limits.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { IsInt, IsOptional, Max, Min, ValidateBy } from '../../../http/validation/class-validator.js';

/**
 * The values of a limit. Without any, it limits nothing. Null is the same as absent, so that clients can send what they have
 * got.
 */
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
  @IsOptional()
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
  @IsOptional()
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
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_BURST)
  burst?: number | null;
}

import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';

import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ArtifactBody, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import {
  ArrayMaxSize,
  IsArray,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from '../../../http/validation/class-validator.js';
import { IfGiven } from '../../../http/validation/field-rules.js';
import { MOST_FILTER_VALUES, VALUES_TOGETHER } from '../../../http/validation/filter-values.js';
import { PublishRequest } from './publish-request.js';

export const DEFAULT_TIMEOUT_SECONDS = 30;
const LONGEST_TIMEOUT_SECONDS = 300;

/** Decorates a request field that limits how long the answer may take. Includes the documentation. */
export const Timeout = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: 'Maximum wait in seconds',
      required: false,
      minimum: 1,
      maximum: LONGEST_TIMEOUT_SECONDS,
      default: DEFAULT_TIMEOUT_SECONDS,
      example: 10,
    }),
    IfGiven(),
    Max(LONGEST_TIMEOUT_SECONDS),
    Min(1),
    IsNumber(),
  );

const NameFilter = (description: string, example: string): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      description: `${description}; ${VALUES_TOGETHER}`,
      type: 'array',
      items: { type: 'string', maxLength: MAX_SHORT_TEXT },
      required: false,
      maxItems: MOST_FILTER_VALUES,
      example: [example],
    }),
    IfGiven(),
    MaxLength(MAX_SHORT_TEXT, { each: true }),
    IsString({ each: true }),
    ArrayMaxSize(MOST_FILTER_VALUES),
    IsArray(),
  );

/** Selects the produced artifacts that the answer shows. An empty list does not filter. */
export class ProducedFilters {
  @NameFilter('Keeps only artifacts of these types', 'Reply')
  type_names?: string[];

  @NameFilter('Keeps only artifacts of these producers', 'responder')
  produced_by?: string[];
}

/** Body of a synchronous publish. */
export class SyncPublishRequest extends PublishRequest {
  @Timeout()
  timeout?: number;

  @ApiProperty({ type: () => ProducedFilters, required: false })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => ProducedFilters)
  filters?: ProducedFilters;
}

export class SyncPublishBody {
  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({
    type: [ArtifactBody],
    description: 'Artifacts that agents produced after this publish, in the order of publishing',
  })
  artifacts!: ArtifactBody[];

  @ApiProperty({ description: 'False after a timeout; `artifacts` then has what was produced until then' })
  completed!: boolean;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;
}

export const SYNC_EXAMPLE = {
  correlation_id: 'order-4711',
  artifacts: [PRODUCED_EXAMPLE],
  completed: true,
  duration_ms: 42,
};

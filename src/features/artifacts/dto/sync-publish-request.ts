import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
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
} from 'class-validator';

import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { MOST_FILTER_VALUES, VALUES_TOGETHER } from '../../../http/validation/filter-values.js';
import { IfGiven } from '../../../http/validation/if-given.js';
import { PublishRequest } from './publish-request.js';

export const DEFAULT_TIMEOUT_SECONDS = 30;

/** Selects the produced artifacts that the answer shows. An empty list does not filter. */
export class ProducedFilters {
  @ApiProperty({
    description: `Keeps only artifacts of these types; ${VALUES_TOGETHER}`,
    type: 'array',
    items: { type: 'string', maxLength: MAX_SHORT_TEXT },
    required: false,
    maxItems: MOST_FILTER_VALUES,
    example: ['Reply'],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_FILTER_VALUES)
  @IsString({ each: true })
  @MaxLength(MAX_SHORT_TEXT, { each: true })
  type_names?: string[];

  @ApiProperty({
    description: `Keeps only artifacts of these producers; ${VALUES_TOGETHER}`,
    type: 'array',
    items: { type: 'string', maxLength: MAX_SHORT_TEXT },
    required: false,
    maxItems: MOST_FILTER_VALUES,
    example: ['responder'],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_FILTER_VALUES)
  @IsString({ each: true })
  @MaxLength(MAX_SHORT_TEXT, { each: true })
  produced_by?: string[];
}

/** Body of a synchronous publish. */
export class SyncPublishRequest extends PublishRequest {
  @ApiProperty({
    description: 'Maximum wait in seconds',
    required: false,
    minimum: 1,
    maximum: 300,
    default: DEFAULT_TIMEOUT_SECONDS,
    example: 10,
  })
  @IfGiven()
  @IsNumber()
  @Min(1)
  @Max(300)
  timeout?: number;

  @ApiProperty({ type: () => ProducedFilters, required: false })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => ProducedFilters)
  filters?: ProducedFilters;
}

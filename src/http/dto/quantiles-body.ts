import { ApiProperty } from '../openapi/documentation.js';

/** Quantiles of durations in milliseconds. */
export interface QuantilesBody {
  p50: number;
  p95: number;
  p99: number;
}

/** The schema is part of each field, because in OpenAPI 3.0 a reference cannot be null. */
export const ApiQuantiles = (description: string): PropertyDecorator =>
  ApiProperty({
    type: 'object',
    nullable: true,
    description,
    selfRequired: true,
    required: ['p50', 'p95', 'p99'],
    properties: {
      p50: { type: 'number', description: 'Half of the values are at most this' },
      p95: { type: 'number', description: '95 % of the values are at most this' },
      p99: { type: 'number', description: '99 % of the values are at most this' },
    },
  });

import { ApiProperty } from '../../../http/openapi/documentation.js';

const counts = (description: string) =>
  ({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: `${description}, most frequent first`,
  }) as const;

export class SummaryContent {
  @ApiProperty({ type: 'integer' })
  total_count!: number;

  @ApiProperty(counts('Number of artifacts of each type'))
  by_type!: Record<string, number>;

  @ApiProperty(counts('Number of artifacts of each producer'))
  by_producer!: Record<string, number>;

  @ApiProperty(counts('Number of artifacts of each visibility kind'))
  by_visibility!: Record<string, number>;

  @ApiProperty({
    ...counts('Number of artifacts of the 100 most frequent tags; only present if `correlation_id` or `tag` is given'),
    selfRequired: false,
  })
  by_tag?: Record<string, number>;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  earliest_created_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  latest_created_at!: string | null;
}

export class SummaryBody {
  @ApiProperty()
  summary!: SummaryContent;
}

export const SUMMARY_EXAMPLE: SummaryBody = {
  summary: {
    total_count: 3,
    by_type: { CustomerMessage: 2, Intent: 1 },
    by_producer: { external: 2, classifier: 1 },
    by_visibility: { Public: 3 },
    by_tag: { 'channel:chat': 2 },
    earliest_created_at: '2026-11-20T10:00:00.000Z',
    latest_created_at: '2026-11-20T10:00:04.250Z',
  },
};

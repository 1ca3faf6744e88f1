import type { Visibility } from '../../../catalog/visibility.js';
import { ApiVisibility } from '../../../http/dto/api-visibility.js';
import { namedSchema } from '../../../http/openapi/additions.js';
import { ApiExtraModels, ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import type { GapEntry, PublishedEntry } from '../entry.js';

export class ChangelogEntryBody implements PublishedEntry {
  @ApiProperty({ type: 'integer', description: 'Position of the artifact, in the order of commits' })
  seq!: number;

  @ApiProperty({ enum: ['artifact_published'] })
  event_type!: 'artifact_published';

  @ApiProperty({ format: 'uuid' })
  artifact_id!: string;

  @ApiProperty()
  artifact_type!: string;

  @ApiProperty({ description: 'Name of an agent, or `external`' })
  produced_by!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiVisibility()
  visibility!: Visibility;

  @ApiProperty({ format: 'date-time' })
  timestamp!: string;

  @ApiProperty({ type: Boolean, required: false, description: 'True if its correlation is a replay; otherwise absent' })
  replay?: boolean;
}

export class ChangelogGapBody implements GapEntry {
  @ApiProperty({ type: 'integer', description: 'Artifacts after this position are missing' })
  seq!: number;

  @ApiProperty({ enum: ['gap'] })
  event_type!: 'gap';

  @ApiProperty({
    type: 'integer',
    description: 'Artifacts up to this position are missing, because retention deleted some of them',
  })
  to_seq!: number;
}

export class ChangelogPaginationBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: 'integer' })
  after!: number;

  @ApiProperty({ type: 'integer', description: 'Value of `after` for the next page, now or later' })
  next!: number;

  @ApiProperty({ description: 'Whether there may be further entries after this page' })
  has_more!: boolean;
}

const ITEM = namedSchema('ChangelogItemBody', {
  oneOf: [ChangelogEntryBody, ChangelogGapBody].map((body) => ({ $ref: schemaPath(body) })),
  discriminator: {
    propertyName: 'event_type',
    mapping: { artifact_published: schemaPath(ChangelogEntryBody), gap: schemaPath(ChangelogGapBody) },
  },
});

@ApiExtraModels(ChangelogEntryBody, ChangelogGapBody)
export class ChangelogEventsBody {
  @ApiProperty({
    type: 'array',
    items: ITEM,
  })
  items!: (ChangelogEntryBody | ChangelogGapBody)[];

  @ApiProperty()
  pagination!: ChangelogPaginationBody;
}

export const ENTRY_EXAMPLE: ChangelogEntryBody = {
  seq: 42,
  event_type: 'artifact_published',
  artifact_id: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
  artifact_type: 'CustomerMessage',
  produced_by: 'external',
  correlation_id: 'order-4711',
  visibility: { kind: 'Public' },
  timestamp: '2026-11-20T10:00:00.000Z',
};

export const EVENTS_EXAMPLE: ChangelogEventsBody = {
  items: [ENTRY_EXAMPLE],
  pagination: { limit: 50, after: 41, next: 42, has_more: false },
};

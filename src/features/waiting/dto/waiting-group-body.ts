import { GROUP_WAITS, type OpenGroup } from '../../../blackboard/waits/waits.js';
import type { JoinGroupsTable } from '../../../database/schema.js';
import { ARTIFACT_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { NextPageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

const GROUP_STATES = ['waiting', 'complete'] as const satisfies JoinGroupsTable['state'][];

/** An open join group or batch window. */
export class OpenGroupBody implements OpenGroup {
  @ApiProperty({ enum: GROUP_WAITS })
  kind!: OpenGroup['kind'];

  @ApiProperty({ format: 'uuid' })
  group_id!: string;

  @ApiProperty()
  agent!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "Index of the subscription in the agent's `consumes`; null if this process does not have it",
  })
  subscription!: number | null;

  @ApiProperty({ type: [String], description: 'Types of the subscription' })
  types!: string[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'JSON of the key of a join or a batch window; null for a batch window without `key`',
  })
  join_key!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The correlation of its artifacts; null if they belong to several',
  })
  correlation_id!: string | null;

  @ApiProperty({
    enum: GROUP_STATES,
    description: '`complete`: all artifacts of a join have arrived, and `where` has not been evaluated yet',
  })
  state!: OpenGroup['state'];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Number of artifacts that have arrived, by type',
  })
  received!: Record<string, number>;

  @ApiProperty({ type: [String], description: 'Types that a join still needs; empty for a batch window' })
  waiting_for!: string[];

  @ApiProperty({ type: 'integer', description: 'Number of artifacts that have arrived' })
  size!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Number of artifacts that complete it; null for a window of `debounce`, and for one whose subscription this process does not have',
  })
  size_needed!: number | null;

  @ApiProperty({ format: 'date-time', description: 'When its first artifact arrived' })
  since!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When a join expires or a window closes; null for never. Without a time limit it does not keep its ' +
      'correlations active',
  })
  until!: string | null;

  @ApiProperty({ description: 'Whether no live process has the subscription. It then waits beyond its time limit' })
  without_process!: boolean;
}

export class WaitingGroupsBody {
  @ApiProperty({ type: [OpenGroupBody] })
  items!: OpenGroupBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

/** An artifact in a group. */
export class GroupMemberBody {
  @ApiProperty({ format: 'uuid' })
  artifact_id!: string;

  @ApiProperty()
  artifact_type!: string;

  @ApiProperty()
  correlation_id!: string;

  @ApiProperty({ format: 'date-time' })
  arrived_at!: string;
}

export class WaitingGroupBody extends OpenGroupBody {
  @ApiProperty({ type: [GroupMemberBody], description: 'The artifacts that have arrived, in this order' })
  items!: GroupMemberBody[];

  @ApiProperty()
  pagination!: NextPageBody;
}

export const GROUP_EXAMPLE: OpenGroupBody = {
  kind: 'join',
  group_id: '019a7f5e-0d52-7b1c-a5f0-6c2e8d9f1a40',
  agent: 'supervisor',
  subscription: 0,
  types: ['Intent', 'Routing'],
  join_key: '"order-4711"',
  correlation_id: 'order-4711',
  state: 'waiting',
  received: { Intent: 1 },
  waiting_for: ['Routing'],
  size: 1,
  size_needed: 2,
  since: '2026-11-20T10:00:00.120Z',
  until: null,
  without_process: false,
};

const ONE_PAGE: NextPageBody = { limit: 50, after: null, next: null, has_more: false };

export const GROUPS_EXAMPLE: WaitingGroupsBody = { items: [GROUP_EXAMPLE], pagination: ONE_PAGE };

export const WAITING_GROUP_EXAMPLE: WaitingGroupBody = {
  ...GROUP_EXAMPLE,
  items: [
    {
      artifact_id: ARTIFACT_EXAMPLE.id,
      artifact_type: 'Intent',
      correlation_id: 'order-4711',
      arrived_at: GROUP_EXAMPLE.since,
    },
  ],
  pagination: ONE_PAGE,
};

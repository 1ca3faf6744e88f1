import { MAX_GROUP_MESSAGE } from '../../../common/failure-group.js';
import { RUN_BODY_EXAMPLE } from '../../../http/dto/run-body.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';

/** Failed items with the same normalised error message. */
export class BatchFailureBody {
  @ApiProperty({
    maxLength: MAX_GROUP_MESSAGE,
    description: 'The error message, with placeholders for quoted values, ids and numbers',
  })
  message!: string;

  @ApiProperty({ type: 'integer', description: 'How many items failed with it' })
  items!: number;

  @ApiProperty({ type: 'integer', description: 'Index of the first of these items in the input, from 0' })
  first_index!: number;

  @ApiProperty({ description: 'The run of that item' })
  first_run_id!: string;
}

export class BatchFailuresBody {
  @ApiProperty({ type: [BatchFailureBody], description: 'Up to 100 groups, the largest first' })
  groups!: BatchFailureBody[];

  @ApiProperty({ type: 'integer', description: 'Failed items that belong to none of these groups' })
  other_items!: number;
}

export const BATCH_FAILURES_EXAMPLE: BatchFailuresBody = {
  groups: [
    {
      message: 'classifier failed: the model could not be read',
      items: 12,
      first_index: 3,
      first_run_id: RUN_BODY_EXAMPLE.run_id,
    },
  ],
  other_items: 0,
};

import { ApiProperty } from '@nestjs/swagger';

import { PageBody } from '../../../http/dto/page-body.js';
import { LISTED_EXECUTION_EXAMPLE, ListedExecutionBody } from './execution-body.js';

export class ExecutionListBody {
  @ApiProperty({ type: [ListedExecutionBody] })
  items!: ListedExecutionBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const EXECUTION_LIST_EXAMPLE: ExecutionListBody = {
  items: [LISTED_EXECUTION_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};

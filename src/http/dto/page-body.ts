import { ApiProperty } from '@nestjs/swagger';

/** Position of a page in a list without a total count. */
export class PageBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: 'integer' })
  offset!: number;

  @ApiProperty({ description: 'Whether there are more items after this page' })
  has_more!: boolean;
}

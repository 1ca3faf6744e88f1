import { ApiProperty } from '@nestjs/swagger';

/** Where a page lies in a list that is not counted. */
export class PageBody {
  @ApiProperty({ type: 'integer' })
  limit!: number;

  @ApiProperty({ type: 'integer' })
  offset!: number;

  @ApiProperty({ description: 'Whether there are more behind this page' })
  has_more!: boolean;
}

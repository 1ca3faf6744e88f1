import { QueryInteger, QueryText, QueryVisibleAscii } from '../../../http/validation/query.js';

const LONGEST_ID = 200;

export class CompareQuery {
  @QueryVisibleAscii({
    description: 'Id of a correlation',
    example: 'order-4711',
    maxLength: LONGEST_ID,
    isRequired: true,
  })
  left!: string;

  @QueryVisibleAscii({
    description: 'Id of the correlation to compare it with',
    example: 'order-4712',
    maxLength: LONGEST_ID,
    isRequired: true,
  })
  right!: string;

  @QueryInteger({ description: 'Maximum number of pairs on the page', min: 1, max: 100, default: 100, example: 100 })
  limit!: number;

  @QueryText({ description: 'Value of `next` of a page, to get the page after it', example: 'WzEwMF0' })
  after?: string;
}

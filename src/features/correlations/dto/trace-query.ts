import { QueryInteger, QueryText } from '../../../http/validation/query.js';

export class TraceQuery {
  @QueryInteger({
    description: 'Maximum number of artifacts on the page',
    min: 1,
    max: 500,
    default: 500,
    example: 100,
  })
  limit!: number;

  @QueryText({
    description: 'An artifact id; the page begins after this artifact. Give the last id of a page to get the next one',
    example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
    format: 'uuid',
  })
  after?: string;
}

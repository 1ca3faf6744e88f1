import { QueryInteger, QueryText } from '../../../http/validation/query.js';

/** The query of a trace. */
export class TraceQuery {
  @QueryInteger({ description: 'Artifacts on a page', min: 1, max: 500, default: 500, example: 100 })
  limit!: number;

  @QueryText({ description: "An artifact's id: the page begins behind it. With the last one of the page before, the trace goes on", example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80', format: 'uuid' })
  after?: string;
}

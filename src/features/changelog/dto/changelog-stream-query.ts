import { QueryBoolean, QueryInteger } from '../../../http/validation/query.js';
import { ChangelogFilterQuery } from './changelog-filter-query.js';

export class ChangelogStreamQuery extends ChangelogFilterQuery {
  @QueryInteger({
    description:
      'The stream begins after this position. `Last-Event-ID` takes precedence; without both, the stream begins now',
    min: 0,
    example: 0,
  })
  after?: number;

  @QueryBoolean({
    description: 'Whether to also send live events about executions, runs, batches and correlations',
    default: false,
    example: true,
  })
  live!: boolean;
}

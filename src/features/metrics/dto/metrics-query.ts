import { QueryList } from '../../../http/validation/query.js';

export class MetricsQuery {
  @QueryList({
    description: 'Answers only the metrics with these names. The service does not read the others, which costs less',
    example: ['starling_queue_depth'],
    most: 20,
  })
  name?: string[];
}

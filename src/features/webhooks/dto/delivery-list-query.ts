import { QueryChoice, QueryInteger, QueryText } from '../../../http/validation/query.js';
import { DELIVERY_EXAMPLE, DELIVERY_STATES } from './delivery-body.js';

/** The query of the list of deliveries. */
export class DeliveryListQuery {
  @QueryChoice({ description: 'Deliveries in this state alone', choices: DELIVERY_STATES, example: 'dead' })
  state?: (typeof DELIVERY_STATES)[number];

  @QueryText({ description: 'To this target alone', example: DELIVERY_EXAMPLE.target_id })
  target_id?: string;

  @QueryText({ description: 'Of this correlation alone', example: DELIVERY_EXAMPLE.correlation_id })
  correlation_id?: string;

  @QueryText({ description: 'Of this artifact alone', example: DELIVERY_EXAMPLE.artifact_id })
  artifact_id?: string;

  @QueryInteger({ description: 'Items on a page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Items to leave out before the page', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

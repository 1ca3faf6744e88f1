import { PageBody } from '../../../http/dto/page.js';
import { ApiProperty } from '../../../http/openapi/documentation.js';
import { QueryChoice, QueryInteger, QueryText } from '../../../http/validation/query.js';
import { DELIVERY_EXAMPLE, DELIVERY_STATES, DeliveryBody } from './delivery-body.js';

export class DeliveryListQuery {
  @QueryChoice({ description: 'Keeps only deliveries in this state', choices: DELIVERY_STATES, example: 'dead' })
  state?: (typeof DELIVERY_STATES)[number];

  @QueryText({ description: 'Keeps only deliveries to this target', example: DELIVERY_EXAMPLE.target_id })
  target_id?: string;

  @QueryText({ description: 'Keeps only deliveries of this correlation', example: DELIVERY_EXAMPLE.correlation_id })
  correlation_id?: string;

  @QueryText({ description: 'Keeps only deliveries of this artifact', example: DELIVERY_EXAMPLE.artifact_id })
  artifact_id?: string;

  @QueryInteger({ description: 'Maximum number of items on the page', min: 1, max: 500, default: 50, example: 50 })
  limit!: number;

  @QueryInteger({ description: 'Number of matching items to skip', min: 0, max: 1_000_000, default: 0, example: 0 })
  offset!: number;
}

export class DeliveryListBody {
  @ApiProperty({ type: [DeliveryBody] })
  items!: DeliveryBody[];

  @ApiProperty()
  pagination!: PageBody;
}

export const DELIVERY_LIST_EXAMPLE: DeliveryListBody = {
  items: [DELIVERY_EXAMPLE],
  pagination: { limit: 50, offset: 0, has_more: false },
};

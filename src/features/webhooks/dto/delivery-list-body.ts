import { ApiProperty } from '@nestjs/swagger';

import { PageBody } from '../../../http/dto/page-body.js';
import { DELIVERY_EXAMPLE, DeliveryBody } from './delivery-body.js';

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

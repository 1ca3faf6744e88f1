import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '../../http/openapi/documentation.js';
import { TakesNoFields } from '../../http/validation/takes-no-fields.js';
import { DeliveriesService } from './deliveries.service.js';
import {
  DELIVERY_EXAMPLE,
  DELIVERY_WITH_ATTEMPTS_EXAMPLE,
  DeliveryWithAttemptsBody,
  REDELIVERED_EXAMPLE,
} from './dto/delivery-body.js';
import { DELIVERY_LIST_EXAMPLE, DeliveryListBody, DeliveryListQuery } from './dto/delivery-list.js';

const ApiDeliveryId = (): MethodDecorator =>
  ApiParam({
    name: 'delivery_id',
    description: "The delivery's id",
    schema: { type: 'string', example: DELIVERY_EXAMPLE.delivery_id },
  });

const NOT_FOUND = `Delivery not found: ${DELIVERY_EXAMPLE.delivery_id}`;

@ApiTags('Webhooks')
@Controller('api/v1/webhooks/deliveries')
export class WebhooksController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get()
  @ApiOperation({
    summary: 'List deliveries of webhooks',
    description: 'Lists deliveries, newest first. A delivery must match all filters.',
  })
  @ApiOkResponse({ type: DeliveryListBody, description: 'One page', example: DELIVERY_LIST_EXAMPLE })
  @ApiErrors([400, 'state: must be one of waiting, pending, running, delivered, dead'])
  list(@Query() query: DeliveryListQuery): Promise<DeliveryListBody> {
    return this.deliveries.list(query);
  }

  @Get(':delivery_id')
  @ApiOperation({ summary: 'Get a delivery with its attempts', description: 'Fields without a value are absent.' })
  @ApiDeliveryId()
  @ApiOkResponse({
    type: DeliveryWithAttemptsBody,
    description: 'The delivery',
    example: DELIVERY_WITH_ATTEMPTS_EXAMPLE,
  })
  @ApiErrors([404, NOT_FOUND])
  get(@Param('delivery_id') id: string): Promise<DeliveryWithAttemptsBody> {
    return this.deliveries.get(id);
  }

  @Post(':delivery_id/redeliver')
  @TakesNoFields()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Send a delivery again',
    description:
      'Sends a delivered or dead delivery again, with the same webhook-id and a new set of attempts. It is the next ' +
      'one of its correlation to the same target.',
  })
  @ApiDeliveryId()
  @ApiOkResponse({ type: DeliveryWithAttemptsBody, description: 'The delivery', example: REDELIVERED_EXAMPLE })
  @ApiErrors(
    [404, NOT_FOUND],
    [
      409,
      `Delivery ${DELIVERY_EXAMPLE.delivery_id} has not ended yet (pending); only a delivered or dead one can be sent again`,
    ],
    503,
  )
  redeliver(@Param('delivery_id') id: string): Promise<DeliveryWithAttemptsBody> {
    return this.deliveries.redeliver(id);
  }
}

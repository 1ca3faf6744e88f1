import { Controller, Get, Header, HttpException, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';

import { ApiErrors } from '../../http/openapi/api-errors.js';
import {
  ApiExcludeController,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiTags,
} from '../../http/openapi/documentation.js';
import type { JsonText } from '../../http/responses/send-json.js';
import { ChangelogEventsService } from './changelog-events.service.js';
import { ChangelogEventsBody, ENTRY_EXAMPLE, EVENTS_EXAMPLE } from './dto/changelog-events-body.js';
import { ChangelogEventsQuery, ChangelogStreamQuery } from './dto/changelog-query.js';
import { EventStreamService } from './event-stream.service.js';

const STREAM_EXAMPLE = `: entries behind 41
id: 41

id: 42
data: ${JSON.stringify(ENTRY_EXAMPLE)}

`;

const FULL = '2500 streams are open; close some, try again later, or raise max_streams';

@ApiTags('Changelog')
@Controller('api/v1/changelog')
export class ChangelogController {
  constructor(
    private readonly events: ChangelogEventsService,
    private readonly streams: EventStreamService,
  ) {}

  @Get('events')
  @ApiOperation({
    summary: 'List published artifacts',
    description:
      'Lists entries in the order of positions, or the newest first. For the next page, send `next` as `after`. An ' +
      'entry must match all filters.',
  })
  @ApiOkResponse({ type: ChangelogEventsBody, description: 'One page', example: EVENTS_EXAMPLE })
  @ApiErrors(
    [400, 'after: must be the position of an entry, from 0 to 42 (got "43"); without it, a stream begins now'],
    503,
  )
  list(@Query() query: ChangelogEventsQuery): Promise<JsonText> {
    return this.events.list(query);
  }

  @Get('stream')
  @ApiOperation({
    summary: 'Stream published artifacts',
    description:
      'Sends server-sent events, whose `id` is the position. Without `Last-Event-ID` and `after` the stream begins ' +
      'now. `/ws` offers the same as a WebSocket.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    description: 'The position to resume after; browsers send it when they reconnect',
    required: false,
    schema: { type: 'string', pattern: '^\\d{1,16}$', example: '42' },
  })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({
    description: 'Entries, until one side closes',
    content: { 'text/event-stream': { schema: { type: 'string' }, example: STREAM_EXAMPLE } },
  })
  @ApiErrors(
    [400, 'Last-Event-ID: must be the position of an entry, from 0 to 42 (got "now"); without it, a stream begins now'],
    [503, FULL],
  )
  stream(@Query() query: ChangelogStreamQuery, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.streams.answer(query, request, response);
  }
}

export const SOCKET_PATHS = ['/ws', '/ws/changelog'];

const UPGRADE_REQUIRED = 426;

/** Answers plain HTTP requests on the WebSocket paths. `ChangelogSockets` handles WebSocket handshakes. */
@ApiExcludeController()
@Controller()
export class SocketPathsController {
  @Get(SOCKET_PATHS)
  @Header('Connection', 'Upgrade')
  @Header('Upgrade', 'websocket')
  refuse(): never {
    throw new HttpException(
      'This path is a WebSocket; connect with ws:// or wss://, or read GET /api/v1/changelog/stream',
      UPGRADE_REQUIRED,
    );
  }
}

import { Controller, Get, Header, HttpException } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';

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

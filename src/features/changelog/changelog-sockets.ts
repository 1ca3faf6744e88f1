import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ServerOptions, WebSocketServer } from 'ws';

import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { Settings } from '../../config/settings.js';
import { receiveUpgrades } from '../../http/connections/upgrades.js';
import { SOCKET_PATHS } from './changelog.controller.js';
import { FirstMessages } from './first-message.js';
import { stopping, StreamLimits } from './stream-limits.js';

/** The limit of a stream's query over HTTP, because the filter stays in memory as long as the stream. */
const LONGEST_MESSAGE_BYTES = 16 * 1_024;
/** Time for the other end to close too. The connection is cut after it. */
const CLOSE_WITHIN_MS = 1_000;

/** Accepts the WebSocket connections of streams. */
@Injectable()
export class ChangelogSockets implements OnApplicationBootstrap {
  private loading: Promise<WebSocketServer> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly role: Role,
    private readonly adapter: HttpAdapterHost,
    private readonly limits: StreamLimits,
    private readonly store: ChangelogStore,
    private readonly lifecycle: Lifecycle,
    private readonly firstMessages: FirstMessages,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.role.api) return;
    const server = this.adapter.httpAdapter.getHttpServer() as Server;
    receiveUpgrades(server, this.settings, this.logger, SOCKET_PATHS, (request, socket, head) =>
      this.accept(request, socket, head),
    );
  }

  /** Throws DomainError `invalid` or `unavailable` if the handshake must be refused. */
  private async accept(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const leave = this.limits.admit(request);
    socket.once('close', leave);
    try {
      const webSockets = await (this.loading ??= loadServer());
      // Read before the client knows that it is connected, so that it gets everything that is published from then on.
      const position = await this.store.end();
      if (this.lifecycle.stopping) throw stopping();
      webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.firstMessages.waitFor(webSocket, socket, position),
      );
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** Loads `ws` at the first connection: a process without such streams does not need it. */
async function loadServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: LONGEST_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    closeTimeout: CLOSE_WITHIN_MS,
    // The types lack `closeTimeout`.
  } as ServerOptions);
  server.on('wsClientError', refuseHandshake);
  server.on('headers', (headers) => headers.push(`X-Request-ID: ${newId()}`));
  return server;
}

/** Replaces the answer of `ws`. The error propagates through its `handleUpgrade`. */
function refuseHandshake(error: Error): never {
  throw new DomainError('invalid', `The WebSocket handshake is wrong: ${error.message}`);
}

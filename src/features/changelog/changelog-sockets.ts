import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type RawData, type ServerOptions, type WebSocket, WebSocketServer } from 'ws';

import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { Settings } from '../../config/settings.js';
import { receiveUpgrades } from '../../http/connections/upgrades.js';
import { readFirstMessage } from './first-message.js';
import { Resuming } from './resuming.js';
import { SOCKET_PATHS } from './socket-paths.controller.js';
import { stopping, StreamLimits } from './stream-limits.js';
import { everythingBehind, type StreamRequest } from './stream-request.js';
import { Streams } from './streams.js';
import { WebSocketSink } from './websocket-sink.js';

/** The limit of a stream's query over HTTP, because the filter stays in memory as long as the stream. */
const LONGEST_MESSAGE_BYTES = 16 * 1_024;
const FIRST_MESSAGE_WITHIN_MS = 1_000;
/** Time for the other end to close too. The connection is cut after it. */
const CLOSE_WITHIN_MS = 1_000;

/** Close codes (RFC 6455, section 7.4.1). */
const CLOSE = { goingAway: 1_001, refused: 1_008, failed: 1_011 };

/** Serves streams over WebSocket. */
@Injectable()
export class ChangelogSockets implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly server = new WebSocketServer({
    noServer: true,
    maxPayload: LONGEST_MESSAGE_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
    closeTimeout: CLOSE_WITHIN_MS,
    // The types lack `closeTimeout`.
  } as ServerOptions);
  /** Connections whose stream has not begun. */
  private readonly waiting = new Set<WebSocket>();

  constructor(
    private readonly settings: Settings,
    private readonly role: Role,
    private readonly clock: Clock,
    private readonly adapter: HttpAdapterHost,
    private readonly limits: StreamLimits,
    private readonly resuming: Resuming,
    private readonly streams: Streams,
    private readonly store: ChangelogStore,
    private readonly lifecycle: Lifecycle,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    lifecycle.onStop(() => this.closeWaiting());
  }

  onApplicationBootstrap(): void {
    if (!this.role.api) return;
    const server = this.adapter.httpAdapter.getHttpServer() as Server;
    receiveUpgrades(server, this.settings, this.logger, SOCKET_PATHS, (request, socket, head) =>
      this.accept(request, socket, head),
    );
    this.server.on('wsClientError', refuseHandshake);
    this.server.on('headers', (headers) => headers.push(`X-Request-ID: ${newId()}`));
  }

  onModuleDestroy(): void {
    this.closeWaiting();
  }

  /** Throws DomainError `invalid` or `unavailable` where the handshake must be refused. */
  private async accept(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const leave = this.limits.admit(request);
    socket.once('close', leave);
    try {
      // Read before the client knows that it is connected, so that it gets everything that is published from then on.
      const position = await this.store.end();
      if (this.lifecycle.stopping) throw stopping();
      this.server.handleUpgrade(request, socket, head, (webSocket) => this.awaitFilter(webSocket, socket, position));
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Waits for the filter. A reader that sends none in time gets everything after `position`. */
  private awaitFilter(webSocket: WebSocket, socket: Socket, position: number): void {
    this.waiting.add(webSocket);
    const begin = (request: () => Promise<StreamRequest>): void => {
      cancel();
      this.waiting.delete(webSocket);
      this.begin(webSocket, socket, request).catch((error: unknown) => this.refuse(webSocket, error));
    };
    const beginWithout = (): void => {
      if (this.waiting.has(webSocket)) begin(async () => everythingBehind(position));
    };
    // Deferred until received data is read. If the process itself was blocked, the filter may have arrived in time.
    const cancel = this.clock.at(this.clock.now() + FIRST_MESSAGE_WITHIN_MS, () => setImmediate(beginWithout));
    // An error closes the connection, and the reader connects again.
    webSocket.on('error', (error) => this.logger.debug({ err: error }, 'a WebSocket failed'));
    webSocket.once('close', () => {
      cancel();
      this.waiting.delete(webSocket);
    });
    webSocket.once('message', (data: RawData) => {
      if (this.waiting.has(webSocket)) begin(() => this.requested(String(data)));
      else this.refuse(webSocket, tooLate());
    });
  }

  private async begin(webSocket: WebSocket, socket: Socket, request: () => Promise<StreamRequest>): Promise<void> {
    await this.streams.begin(await request(), () => new WebSocketSink(webSocket, socket));
  }

  private async requested(text: string): Promise<StreamRequest> {
    const request = readFirstMessage(text);
    if (request.after !== null) await this.resuming.check('after', request.after);
    return request;
  }

  /** Sends the same error body as HTTP does. */
  private refuse(webSocket: WebSocket, error: unknown): void {
    const isOurs = error instanceof DomainError;
    if (!isOurs) this.logger.error({ err: error }, 'a stream could not begin');
    webSocket.send(
      JSON.stringify({ detail: isOurs ? error.message : 'The stream could not begin; connect again in a moment' }),
    );
    webSocket.close(isOurs && error.code === 'invalid' ? CLOSE.refused : CLOSE.failed);
  }

  private closeWaiting(): void {
    for (const webSocket of this.waiting) webSocket.close(CLOSE.goingAway);
  }
}

/** The error for a late filter. To ignore the filter would send entries that the reader does not want. */
const tooLate = (): DomainError =>
  new DomainError(
    'invalid',
    `The filter came later than ${FIRST_MESSAGE_WITHIN_MS / 1_000} s after the connection, and the stream began without it; connect again and send it immediately`,
  );

/** Replaces the answer of `ws`. The error propagates through its `handleUpgrade`. */
function refuseHandshake(error: Error): never {
  throw new DomainError('invalid', `The WebSocket handshake is wrong: ${error.message}`);
}

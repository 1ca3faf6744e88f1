import type { Socket } from 'node:net';

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { RawData, WebSocket } from 'ws';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { scheduler } from '../../common/scheduler.js';
import { MOST_FILTER_VALUES } from '../../http/validation/filter-values.js';
import { toChangelogFilter } from './dto/changelog-query.js';
import { Resuming } from './resuming.js';
import { type StreamRequest, Streams } from './streams.js';
import { WebSocketSink } from './websocket-sink.js';

const FIRST_MESSAGE_WITHIN_MS = 1_000;

/** Close codes (RFC 6455, section 7.4.1). */
const CLOSE = { goingAway: 1_001, refused: 1_008, failed: 1_011 };

/** Waits for the first message of each WebSocket, which is the filter of its stream, and begins the stream. */
@Injectable()
export class FirstMessages implements OnModuleDestroy {
  /** Connections whose stream has not begun. */
  private readonly waiting = new Set<WebSocket>();

  constructor(
    private readonly clock: Clock,
    private readonly resuming: Resuming,
    private readonly streams: Streams,
    lifecycle: Lifecycle,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    lifecycle.onStop(() => this.closeWaiting());
  }

  onModuleDestroy(): void {
    this.closeWaiting();
  }

  /**
   * The stream begins after `position`, unless the first message says otherwise, because an artifact that is published
   * between the handshake and the filter would be missed. A reader that sends no filter in time gets everything.
   */
  waitFor(webSocket: WebSocket, socket: Socket, position: number): void {
    this.waiting.add(webSocket);
    const begin = (request: () => Promise<StreamRequest>): void => {
      cancel();
      this.waiting.delete(webSocket);
      this.begin(webSocket, socket, request).catch((error: unknown) => this.refuse(webSocket, error));
    };
    const beginWithout = (): void => {
      if (this.waiting.has(webSocket)) begin(async () => everythingAfter(position));
    };
    // Deferred until received data is read. If the process itself was blocked, the filter may have arrived in time.
    const cancel = this.clock.at(this.clock.now() + FIRST_MESSAGE_WITHIN_MS, () => scheduler.later(beginWithout));
    // An error closes the connection, and the reader connects again.
    webSocket.on('error', (error) => this.logger.debug({ err: error }, 'a WebSocket failed'));
    webSocket.once('close', () => {
      cancel();
      this.waiting.delete(webSocket);
    });
    webSocket.once('message', (data: RawData) => {
      if (this.waiting.has(webSocket)) begin(() => this.requested(String(data), position));
      else this.refuse(webSocket, tooLate());
    });
  }

  private async begin(webSocket: WebSocket, socket: Socket, request: () => Promise<StreamRequest>): Promise<void> {
    await this.streams.begin(await request(), () => new WebSocketSink(webSocket, socket));
  }

  private async requested(text: string, position: number): Promise<StreamRequest> {
    const request = readFirstMessage(text);
    if (request.after === null) return { ...request, after: position };
    await this.resuming.check('after', request.after);
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

const everythingAfter = (position: number): StreamRequest => ({
  filter: { correlationIds: [], types: [], producers: [], replays: false },
  after: position,
  live: false,
});

const EXAMPLE = '{"correlation_id": "order-4711", "after": 0}, or {} for everything from now on';

/** Parses the filter, the first message of a WebSocket. Throws DomainError `invalid`, which names every bad field. */
function readFirstMessage(text: string): StreamRequest {
  const message = parse(text);
  const problems: string[] = [];
  const given = <T>(name: string, rule: string, read: (value: unknown) => T | undefined, absent: T): T => {
    if (message[name] === undefined) return absent;
    const value = read(message[name]);
    if (value === undefined) problems.push(`${name}: ${rule}`);
    return value ?? absent;
  };
  const texts = (name: string): string[] =>
    given(name, `must be a string, or a list of at most ${MOST_FILTER_VALUES}`, readTexts, []);
  const flag = (name: string): boolean =>
    given(name, 'must be true or false', (value) => (typeof value === 'boolean' ? value : undefined), false);
  const lists = {
    correlation_id: texts('correlation_id'),
    artifact_type: texts('artifact_type'),
    produced_by: texts('produced_by'),
    replay: flag('replay'),
  };
  const options = {
    after: given<number | null>('after', 'must be a whole number of at least 0', readPosition, null),
    live: flag('live'),
  };
  if (problems.length > 0) throw new DomainError('invalid', problems.sort().join('; '));
  return { filter: toChangelogFilter(lists), ...options };
}

function parse(text: string): JsonObject {
  try {
    const message: unknown = JSON.parse(text);
    if (isJsonObject(message)) return message;
  } catch {
    // Reported below.
  }
  throw new DomainError('invalid', `The first message must be a filter, as a JSON object: ${EXAMPLE}`);
}

function readTexts(value: unknown): string[] | undefined {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.length <= MOST_FILTER_VALUES && values.every((one) => typeof one === 'string') ? values : undefined;
}

const readPosition = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

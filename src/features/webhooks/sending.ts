import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { scheduler } from '../../common/scheduler.js';
import { toTimestamp } from '../../common/timestamp.js';
import { Settings } from '../../config/settings.js';
import { Outbound } from '../../http-client/outbound.js';
import { HostFull, OutboundError } from '../../http-client/outbound-error.js';
import { retryAfter } from '../../http-client/retry-after.js';
import { webhookHeaders } from '../../http-client/signatures.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { DeliveryPayloads } from './delivery-payloads.js';
import { StoredSecrets } from './stored-secrets.js';

const TIME_LIMIT_MS = 10_000;
const READ_AGAIN_AFTER_MS = 1_000;
const TURNED_OFF = 'webhooks of clients are off (client_webhooks); send the delivery again when they are on';

/** The outcome of one attempt. */
export interface Sent {
  /** Epoch ms. */
  startedAt: number;
  durationMs: number;
  /** HTTP status; null without a response. */
  status: number | null;
  /** Null if it was delivered. It contains no part of the URL except the host. */
  error: string | null;
  /** Whether no further attempt follows, because it would fail too or the receiver does not want it. */
  isFinal: boolean;
  /** Earliest time of the next attempt that the receiver asks for (epoch ms). */
  notBefore: number | null;
  /** The state of the target, as the attempt shows it. */
  target: 'works' | 'fails' | 'unknown';
  /** Null if it was sent. Otherwise nothing was sent, and the same attempt waits until this time (epoch ms). */
  heldUntil: number | null;
}

type Answer = Omit<Sent, 'startedAt' | 'durationMs'>;

/** Sends a delivery once. */
@Injectable()
export class Sending {
  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly outbound: Outbound,
    private readonly secrets: StoredSecrets,
    private readonly payloads: DeliveryPayloads,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never rejects. */
  async send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Sent> {
    try {
      return await this.payloads.use(delivery, signal, (payload) => this.sendNow(delivery, payload, signal));
    } catch (error) {
      if (!signal.aborted)
        this.logger.warn(
          { err: error, delivery_id: delivery.id },
          'the payload of a delivery could not be read; trying again',
        );
      const startedAt = this.clock.now();
      return { startedAt, durationMs: 0, ...held('its payload could not be read', startedAt + READ_AGAIN_AFTER_MS) };
    }
  }

  private async sendNow(delivery: ClaimedDelivery, payload: string, signal: AbortSignal): Promise<Sent> {
    const startedAt = this.clock.now();
    const began = scheduler.elapsed();
    const answer = await this.answerTo(delivery, payload, startedAt, signal);
    return { startedAt, durationMs: Math.round(scheduler.elapsed() - began), ...answer };
  }

  private async answerTo(
    { id, target, artifact, sequence, traceparent }: ClaimedDelivery,
    payload: string,
    sentAt: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (target.by === 'client' && this.settings.clientWebhooks === 'off') return noAnswer(TURNED_OFF, true, 'unknown');
    try {
      const body = deliveryContent(artifact, payload, sequence);
      const headers = {
        'content-type': 'application/json',
        ...(traceparent !== null && { traceparent }),
        ...webhookHeaders(this.secrets.of(target), { id, sentAt, body }),
      };
      const { status, headers: answered } = await this.outbound.post(target.url, {
        headers,
        body,
        timeoutMs: TIME_LIMIT_MS,
        signal,
        by: target.by,
      });
      return answer(new URL(target.url).host, status, retryAfter(answered['retry-after'], this.clock.now()));
    } catch (error) {
      if (error instanceof HostFull) return held(error.message, error.until);
      if (error instanceof OutboundError && error.isRefused && error.cause instanceof Error) {
        this.logger.warn({ delivery_id: id, reason: error.cause.message }, 'a delivery was not sent');
      }
      if (error instanceof OutboundError)
        return noAnswer(error.message, error.isRefused, error.isRefused ? 'unknown' : 'fails');
      this.logger.error({ err: error, delivery_id: id }, 'a delivery could not be sent');
      return noAnswer(error instanceof Error ? error.message : 'it could not be sent', false, 'unknown');
    }
  }
}

/**
 * Returns the body of a delivery (docs/webhooks.md). It has the same bytes in every attempt, which is why `timestamp`
 * is that of the artifact. `sequence` is the artifact's number in its correlation.
 */
function deliveryContent(
  artifact: Omit<ClaimedDelivery['artifact'], 'payload'>,
  payload: string,
  sequence: number,
): string {
  const { id, type, produced_by, tags } = artifact;
  const createdAt = toTimestamp(artifact.created_at);
  // Payload and tags are JSON already.
  const fields = [
    `"id":${JSON.stringify(id)}`,
    `"type":${JSON.stringify(type)}`,
    `"produced_by":${JSON.stringify(produced_by)}`,
    `"payload":${payload}`,
    `"created_at":"${createdAt}"`,
    `"tags":${tags}`,
  ];
  const correlationId = JSON.stringify(artifact.correlation_id);
  return `{"event_type":"artifact.created","correlation_id":${correlationId},"sequence":${sequence},"artifact":{${fields.join()}},"timestamp":"${createdAt}"}`;
}

const noAnswer = (error: string, isFinal: boolean, target: Answer['target']): Answer => ({
  status: null,
  error,
  isFinal,
  notBefore: null,
  target,
  heldUntil: null,
});

const held = (error: string, heldUntil: number): Answer => ({ ...noAnswer(error, false, 'unknown'), heldUntil });

function answer(host: string, status: number, notBefore: number | null): Answer {
  if (status >= 200 && status < 300)
    return { status, error: null, isFinal: false, notBefore: null, target: 'works', heldUntil: null };
  const isRedirect = status >= 300 && status < 400;
  return {
    status,
    error: `${host} answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`,
    isFinal: status === GONE,
    notBefore,
    target: status >= 500 || status === TOO_MANY ? 'fails' : 'works',
    heldUntil: null,
  };
}

const GONE = 410;
const TOO_MANY = 429;

import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Outbound } from '../outbound/outbound.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { retryAfter } from '../outbound/retry-after.js';
import { webhookHeaders } from '../outbound/signatures.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { deliveryContent } from './delivery-content.js';
import { StoredSecrets } from './stored-secrets.js';

const TIME_LIMIT_MS = 10_000;

/** What came of one try. */
export interface Sent {
  /** Epoch ms. */
  startedAt: number;
  durationMs: number;
  /** Null where no answer came. */
  status: number | null;
  /** Null where it was delivered; holds nothing of the URL but its host. */
  error: string | null;
  /** Another try would end alike, or is not wanted. */
  isFinal: boolean;
  /** The receiver asks for no other try before (epoch ms). */
  notBefore: number | null;
  /** Whether its target works, as far as this try shows. */
  target: 'works' | 'fails' | 'unknown';
}

type Answer = Pick<Sent, 'status' | 'error' | 'isFinal' | 'notBefore' | 'target'>;

/** Sends a delivery once. */
@Injectable()
export class Sending {
  constructor(
    private readonly clock: Clock,
    private readonly outbound: Outbound,
    private readonly secrets: StoredSecrets,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never rejects. */
  async send(delivery: ClaimedDelivery, signal: AbortSignal): Promise<Sent> {
    const startedAt = this.clock.now();
    const began = performance.now();
    const answer = await this.answerTo(delivery, startedAt, signal);
    return { startedAt, durationMs: Math.round(performance.now() - began), ...answer };
  }

  private async answerTo({ id, target, artifact, sequence, traceparent }: ClaimedDelivery, sentAt: number, signal: AbortSignal): Promise<Answer> {
    try {
      const body = deliveryContent(artifact, sequence);
      const headers = {
        'content-type': 'application/json',
        ...(traceparent !== null && { traceparent }),
        ...webhookHeaders(this.secrets.of(target), { id, sentAt, body }),
      };
      const { status, headers: answered } = await this.outbound.post(target.url, { headers, body, timeoutMs: TIME_LIMIT_MS, signal, by: target.by });
      return answer(new URL(target.url).host, status, retryAfter(answered['retry-after'], this.clock.now()));
    } catch (error) {
      if (error instanceof OutboundError && error.isRefused && error.cause instanceof Error) {
        this.logger.warn({ delivery_id: id, reason: error.cause.message }, 'a delivery was not sent');
      }
      if (error instanceof OutboundError) return noAnswer(error.message, error.isRefused, error.isRefused ? 'unknown' : 'fails');
      this.logger.error({ err: error, delivery_id: id }, 'a delivery could not be sent');
      return noAnswer(error instanceof Error ? error.message : 'it could not be sent', false, 'unknown');
    }
  }
}

const noAnswer = (error: string, isFinal: boolean, target: Answer['target']): Answer => ({ status: null, error, isFinal, notBefore: null, target });

function answer(host: string, status: number, notBefore: number | null): Answer {
  if (status >= 200 && status < 300) return { status, error: null, isFinal: false, notBefore: null, target: 'works' };
  const isRedirect = status >= 300 && status < 400;
  return {
    status,
    error: `${host} answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`,
    isFinal: status === GONE,
    notBefore,
    target: status >= 500 || status === TOO_MANY ? 'fails' : 'works',
  };
}

const GONE = 410;
const TOO_MANY = 429;

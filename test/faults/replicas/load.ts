import { setTimeout as delay } from 'node:timers/promises';

import type { Random } from '../../support/random.js';
import type { HistoryRecorder, Recorded } from './history-recorder.js';
import type { Answer, LoadLedger } from './load-ledger.js';
import type { Replica } from './replica.js';
import { type LoadRequest, nextRequests } from './requests.js';

const SENDERS = 16;
const PAUSE_MS = 250;
/**
 * With more unanswered requests than these, nothing new is sent: the backlog after an outage would take longer than the
 * round.
 */
const MOST_OPEN = 40;
/** After this time a request to a stopped replica is aborted, and sent to another one. */
const GIVE_UP_AFTER_MS = 3_000;

/**
 * Several parallel clients that send requests to any replica that is up, and repeat those that are safe to repeat until
 * they are answered.
 */
export class Load {
  private running = true;
  private count = 0;
  private readonly senders: Promise<void>[];

  constructor(
    private readonly replicas: readonly Replica[],
    private readonly ledger: LoadLedger,
    private readonly random: Random,
    private readonly recorder: HistoryRecorder,
  ) {
    this.senders = Array.from({ length: SENDERS }, () => this.sendOn());
  }

  /** Resolves when all requests are answered or aborted. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.senders);
  }

  private async sendOn(): Promise<void> {
    while (this.running) {
      const sendsAgain = this.random.next() < 0.2 || this.ledger.open().length > MOST_OPEN;
      const requests = sendsAgain ? this.again() : nextRequests((this.count += 1), this.random);
      await Promise.all(requests.map((request) => this.send(request)));
    }
  }

  /** Returns an unanswered request, or a random other one with a key, at times for two replicas in parallel. */
  private again(): LoadRequest[] {
    const open = this.ledger.open();
    const request = this.pick(open.length > 0 ? open : this.ledger.keyed());
    if (!request) return [];
    return this.random.next() < 0.3 ? [request, request] : [request];
  }

  private async send(request: LoadRequest): Promise<void> {
    const replica = this.pick(this.replicas.filter(({ isUp }) => isUp));
    if (!replica) return delay(PAUSE_MS);
    const answer = await sendTo(replica, request, this.recorder);
    this.ledger.note(request, answer);
    if (request.kind === 'nap' && answer?.status === 200) await this.cancel(request);
    if (answer?.status !== 200) await delay(PAUSE_MS);
  }

  private async cancel({ correlationId }: LoadRequest): Promise<void> {
    await delay(this.random.between(0, 300));
    const replica = this.pick(this.replicas.filter(({ isUp }) => isUp));
    if (!replica) return this.ledger.noteCancel(correlationId!, null);
    const recorded = this.recorder.begin('cancel', correlationId!);
    this.ledger.noteCancel(correlationId!, await post(recorded, `${replica.url}/run/${correlationId}/cancel`, {}));
  }

  private pick<T>(items: readonly T[]): T | undefined {
    return items[this.random.between(0, items.length - 1)];
  }
}

/** Repeats a request until it succeeds; for the time after the faults. */
export async function sendOnce(
  replica: Replica,
  ledger: LoadLedger,
  request: LoadRequest,
  recorder: HistoryRecorder,
): Promise<boolean> {
  const answer = await sendTo(replica, request, recorder, 30_000);
  ledger.note(request, answer);
  return answer?.status === 200;
}

function sendTo(
  { url }: Replica,
  request: LoadRequest,
  recorder: HistoryRecorder,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<Answer | null> {
  const { kind, n, key, path, body } = request;
  const recorded = recorder.begin(kind, `${kind}-${n}`, { idempotency_key: key });
  return post(recorded, `${url}${path}`, body, headersOf(request), giveUpAfterMs);
}

function headersOf({ correlationId, key }: LoadRequest): Record<string, string> {
  return {
    ...(correlationId !== null && { 'x-correlation-id': correlationId }),
    ...(key !== null && { 'x-idempotency-key': key }),
  };
}

/** Returns null without an answer: the process was killed, or stopped for too long. */
async function post(
  recorded: Recorded,
  url: string,
  body: object,
  headers: Record<string, string> = {},
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<Answer | null> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(giveUpAfterMs),
    });
    const { status } = response;
    const text = await response.text();
    const replayed = response.headers.get('x-idempotency-replayed') === 'true';
    if (status === 200) recorded.ok({ text, replayed });
    // After a 5xx, such as that of a lost database, the request may have been done.
    else if (status < 500) recorded.fail();
    else recorded.info();
    return { status, text, retryAfter: response.headers.get('retry-after'), replayed };
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    if (cause?.code === 'ECONNREFUSED') recorded.fail();
    else recorded.info();
    return null;
  }
}

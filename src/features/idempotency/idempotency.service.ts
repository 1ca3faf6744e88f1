import { Inject, Injectable } from '@nestjs/common';

import { StoredText } from '../../blackboard/queries/stored-texts.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import type { AnswerContent, IdempotentAnswer, IdempotentRequest } from './idempotent-request.js';
import { type KeyReservation, KeyReservations } from './key-reservations.js';
import type { RequestIds } from './request-ids.js';

const ASK_AGAIN_AFTER_MS = 200;

/** Executes the work of requests with the same key once. */
@Injectable()
export class IdempotencyService {
  /** The work that runs in this process. A promise resolves to null if the work failed. */
  private readonly running = new Map<string, Promise<IdempotentAnswer | null>>();

  constructor(
    private readonly clock: Clock,
    private readonly reservations: KeyReservations,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Returns the key's answer: the cached one, that of a running request with the same key, or the result of `work`,
   * which gets the ids to use. It is cached unless it says that it is not final. Rejects with the error of `work`; the next request then does the work. Throws
   * DomainError `unavailable` if this request waited for another one that failed, and its own body was dropped
   * meanwhile.
   */
  async answer(request: IdempotentRequest, work: (ids: RequestIds) => Promise<unknown>): Promise<IdempotentAnswer> {
    const name = `${request.endpoint} ${request.key}`;
    const own = new OwnWork(request, work);
    for (;;) {
      const cached = await this.reservations.cached(request);
      if (cached) return cached;
      const running = this.running.get(name);
      if (!running) return this.begin(name, request, own);
      own.waits();
      const answer = await running;
      if (answer)
        return { ...answer, replayed: true, mismatch: this.reservations.isMismatch(answer.requestHash, request) };
    }
  }

  private async begin(name: string, request: IdempotentRequest, own: OwnWork): Promise<IdempotentAnswer> {
    const answer = this.perform(request, own);
    this.running.set(
      name,
      answer.catch(() => null),
    );
    try {
      return await answer;
    } finally {
      this.running.delete(name);
    }
  }

  private async perform(request: IdempotentRequest, own: OwnWork): Promise<IdempotentAnswer> {
    const reservation = await this.reserve(request, () => own.waits());
    if (reservation.state === 'answered') return reservation.answer;
    const { ids, requestHash } = reservation;
    const heartbeat = this.reservations.hold(request);
    try {
      const result = await own.run(ids);
      const mismatch = this.reservations.isMismatch(requestHash, request);
      const answer = { content: contentOf(result), ids, requestHash, replayed: false, mismatch };
      if (result instanceof StoredText && !result.isFinal) await this.giveBack(request, ids);
      // A process that was stopped for longer than its lease has lost the key to another process, whose answer counts.
      else if (!(await this.reservations.complete(request, answer.content, reservation)))
        return await this.answerOfAnother(request);
      return answer;
    } catch (error) {
      await this.giveBack(request, ids);
      throw error;
    } finally {
      void heartbeat.stop();
    }
  }

  private async reserve(
    request: IdempotentRequest,
    beforeWaiting: () => void,
  ): Promise<Exclude<KeyReservation, { state: 'held' }>> {
    for (;;) {
      const reservation = await this.reservations.take(request);
      if (reservation.state !== 'held') return reservation;
      beforeWaiting();
      await this.clock.sleep(ASK_AGAIN_AFTER_MS);
    }
  }

  /**
   * Waits for the answer of the process that took the key. Doing the work again is impossible, because the body is
   * freed.
   */
  private async answerOfAnother(request: IdempotentRequest): Promise<IdempotentAnswer> {
    const reservation = await this.reserve(request, () => undefined);
    if (reservation.state === 'answered') return reservation.answer;
    throw new DomainError(
      'unavailable',
      'Another process took this idempotency key and stopped without an answer; send the request again with the same key',
    );
  }

  private async giveBack(request: IdempotentRequest, ids: RequestIds): Promise<void> {
    try {
      await this.reservations.giveBack(request, ids);
    } catch (error) {
      // The next request takes the key over, because this process holds it without working on it.
      this.logger.warn({ err: error }, 'an idempotency key could not be released');
    }
  }
}

/** Keeps the text itself if it is in memory, so that repeated requests read nothing from the database. */
const contentOf = (result: unknown): AnswerContent =>
  result instanceof StoredText ? (result.atHand ?? result) : JSON.stringify(result);

/** Maximum memory that a request may hold while it waits for another one. */
const MOST_HELD_BYTES = 256 * 1_024;

/**
 * The work of a request that may not be the first with its key. While it waits for the first one, its body is kept in
 * case that one fails. Large bodies are dropped, because a few of them would take all memory while the first request
 * runs.
 */
class OwnWork {
  private isGone = false;

  constructor(
    private readonly request: Pick<IdempotentRequest, 'heldBytes' | 'waits' | 'releaseBody'>,
    private readonly work: (ids: RequestIds) => Promise<unknown>,
  ) {}

  /** Must be called before the request waits. Throws DomainError `unavailable` if too many requests wait. */
  waits(): void {
    this.request.waits();
    if (this.isGone || this.request.heldBytes <= MOST_HELD_BYTES) return;
    this.request.releaseBody();
    this.isGone = true;
  }

  /** Rejects with the error of the work, or with DomainError `unavailable` if the body was dropped. */
  async run(ids: RequestIds): Promise<unknown> {
    if (!this.isGone) return this.work(ids);
    throw new DomainError(
      'unavailable',
      'The first request with this idempotency key has failed, and this one was too large to keep; send it again',
    );
  }
}

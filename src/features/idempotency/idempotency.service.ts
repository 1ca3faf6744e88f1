import { Inject, Injectable } from '@nestjs/common';
import { StoredText } from '../../blackboard/queries/stored-texts.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import type { AnswerContent, IdempotentAnswer, IdempotentRequest } from './idempotent-request.js';
import { OwnWork } from './own-work.js';
import type { RequestIds } from './request-ids.js';
import { KeyReservations, type KeyReservation } from './key-reservations.js';

const ASK_AGAIN_AFTER_MS = 200;

/** Has the work of requests with the same key done once. */
@Injectable()
export class IdempotencyService {
  /** What runs in this process; resolves to null where the work failed. */
  private readonly running = new Map<string, Promise<IdempotentAnswer | null>>();

  constructor(
    private readonly clock: Clock,
    private readonly reservations: KeyReservations,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * The key's answer: the cached one, that of the request that is being worked on, or else the result of `work`, which gets
   * the ids to use. Rejects with what `work` rejects with; then the next request works. DomainError `unavailable` where the one that
   * was waited for has failed and this one's body is gone.
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
      if (answer) return { ...answer, replayed: true, mismatch: this.reservations.isMismatch(answer.requestHash, request) };
    }
  }

  private async begin(name: string, request: IdempotentRequest, own: OwnWork): Promise<IdempotentAnswer> {
    const answer = this.perform(request, own);
    this.running.set(name, answer.catch(() => null));
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
    const stopRenewing = this.reservations.hold(request);
    try {
      const content = contentOf(await own.run(ids));
      // Stopped for longer than its lease, it has lost the key to another process: whose answer is everybody's.
      if (!(await this.reservations.complete(request, content, reservation))) return await this.answerOfAnother(request);
      return { content, ids, requestHash, replayed: false, mismatch: this.reservations.isMismatch(requestHash, request) };
    } catch (error) {
      await this.giveBack(request, ids);
      throw error;
    } finally {
      stopRenewing();
    }
  }

  private async reserve(request: IdempotentRequest, beforeWaiting: () => void): Promise<Exclude<KeyReservation, { state: 'held' }>> {
    for (;;) {
      const reservation = await this.reservations.take(request);
      if (reservation.state !== 'held') return reservation;
      beforeWaiting();
      await this.clock.sleep(ASK_AGAIN_AFTER_MS);
    }
  }

  /** The work is done and what was sent for it is no longer held, so that it cannot be done again here. */
  private async answerOfAnother(request: IdempotentRequest): Promise<IdempotentAnswer> {
    const reservation = await this.reserve(request, () => undefined);
    if (reservation.state === 'answered') return reservation.answer;
    throw new DomainError('unavailable', 'The answer was lost with the process that had it; send the request again with its idempotency key');
  }

  private async giveBack(request: IdempotentRequest, ids: RequestIds): Promise<void> {
    try {
      await this.reservations.giveBack(request, ids);
    } catch (error) {
      // Nothing is lost: what this process holds and does not work on, the next request takes over.
      this.logger.warn({ err: error }, 'an idempotency key could not be given back');
    }
  }
}

/** Of an answer whose text is at hand the text itself is kept: there is nothing to read for those who ask again. */
const contentOf = (result: unknown): AnswerContent => (result instanceof StoredText ? (result.atHand ?? result) : JSON.stringify(result));

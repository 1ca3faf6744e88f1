import { Inject, Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import type { Piece } from '../../blackboard/queries/stored-pieces.js';
import { StoredTexts } from '../../blackboard/queries/stored-texts.js';
import type { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isLost } from '../../queue/lease.js';
import { leaseHeartbeat } from '../../queue/lease-heartbeat.js';
import { IdempotencyKeysRepository, type KeyRow, type ScopedKey } from './idempotency-keys.repository.js';
import type { AnswerContent, IdempotentAnswer, IdempotentRequest } from './idempotent-request.js';
import type { RequestIds } from './request-ids.js';
import { StoredHashes } from './stored-hashes.js';

export interface OwnReservation {
  ids: RequestIds;
  requestHash: string;
  /** Another process held the key before, so the age of the things that it names is unknown. */
  isTakenOver: boolean;
}

export type KeyReservation =
  | (OwnReservation & { state: 'ours' })
  | { state: 'answered'; answer: IdempotentAnswer }
  /** Another process works on it. */
  | { state: 'held' };

/**
 * Idempotency keys in the database. A key is committed with its ids before the work begins. A process that later finds
 * the key without an answer and without a live owner does the same work with the same ids.
 */
@Injectable()
export class KeyReservations {
  constructor(
    private readonly processes: Processes,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: IdempotencyKeysRepository,
    private readonly hashes: StoredHashes,
    private readonly texts: StoredTexts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async cached(request: IdempotentRequest): Promise<IdempotentAnswer | null> {
    const row = await this.keys.find(this.unitOfWork.reader, request, this.clock.now());
    return row ? this.replay(row, request) : null;
  }

  /** Whether a stored hash is known to be that of another body. */
  isMismatch(requestHash: string, { hash }: IdempotentRequest): boolean {
    return !this.hashes.mayBeOf(requestHash, hash);
  }

  /** Must only be called for keys that this process is not working on. */
  take(request: IdempotentRequest): Promise<KeyReservation> {
    return this.unitOfWork.run(async (tx) => {
      const now = this.clock.now();
      const row = await this.keys.find(tx.db, request, now);
      if (!row) return this.reserve(tx, request, now);
      const answer = this.replay(row, request);
      if (answer) return { state: 'answered', answer };
      return this.isDead(row, now) ? this.takeOver(tx, request, row, now) : { state: 'held' };
    });
  }

  /** Renews the lease until it is stopped. */
  hold(key: ScopedKey): BackgroundLoop {
    const { clock, logger } = this;
    const { leaseMs } = this.settings;
    const renew = (): Promise<void> =>
      this.unitOfWork.run((tx) => this.keys.renew(tx, key, this.processes.own, clock.now() + leaseMs));
    return leaseHeartbeat(leaseMs, renew, {
      clock,
      logger,
      failure: 'the lease of an idempotency key could not be renewed',
    });
  }

  /** Stores the answer. Returns false if this process has lost the key. */
  complete(key: ScopedKey, content: AnswerContent, { isTakenOver }: OwnReservation): Promise<boolean> {
    // Retention keeps the pieces of an answer for the lifetime of a key, counted from their completion. A process that
    // took the key over answers later than that, so its answer must not extend the expiry.
    const isPinned = isTakenOver && typeof content !== 'string';
    const expiresAt = isPinned ? null : this.clock.now() + this.settings.retainKeysMs;
    const answer = typeof content === 'string' ? { response: content } : { pieces: JSON.stringify(content.pieces) };
    return this.unitOfWork.run((tx) => this.keys.answer(tx, key, this.processes.own, answer, expiresAt));
  }

  /**
   * Releases the key after an error. Where the artifact or batch was stored before the error, the key keeps its ids;
   * otherwise the next request would do the same work twice.
   */
  giveBack(key: ScopedKey, ids: RequestIds): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      if (await this.keys.isMade(tx, ids)) await this.keys.renew(tx, key, this.processes.own, 0);
      else await this.keys.remove(tx, key, this.processes.own);
    });
  }

  private async reserve(tx: Transaction, request: IdempotentRequest, now: number): Promise<KeyReservation> {
    const requestHash = this.hashes.of(request.hash);
    const ids = request.newIds();
    const row = { requestHash, ids, owner: this.processes.own, leaseUntil: now + this.settings.leaseMs };
    const isOurs = await this.keys.insert(tx, request, row, now + this.settings.retainKeysMs, now);
    return isOurs ? { state: 'ours', ids, requestHash, isTakenOver: false } : { state: 'held' };
  }

  private async takeOver(
    tx: Transaction,
    request: IdempotentRequest,
    dead: KeyRow,
    now: number,
  ): Promise<KeyReservation> {
    // The answer belongs to the first body if that has created something, otherwise to the new body.
    const requestHash = (await this.keys.isMade(tx, dead.ids)) ? dead.requestHash : this.hashes.of(request.hash);
    const next = { owner: this.processes.own, leaseUntil: now + this.settings.leaseMs, requestHash };
    const isOurs = await this.keys.takeOver(tx, request, dead, next);
    return isOurs ? { state: 'ours', ids: dead.ids, requestHash, isTakenOver: true } : { state: 'held' };
  }

  private replay({ answer, ids, requestHash }: KeyRow, request: IdempotentRequest): IdempotentAnswer | null {
    if (answer === null) return null;
    const content = 'response' in answer ? answer.response : this.texts.ofEffect(JSON.parse(answer.pieces) as Piece[]);
    return { content, ids, requestHash, replayed: true, mismatch: this.isMismatch(requestHash, request) };
  }

  private isDead({ owner, leaseUntil }: KeyRow, now: number): boolean {
    return (
      owner === this.processes.own || isLost({ owner, until: leaseUntil }, this.processes.own, now, this.unitOfWork)
    );
  }
}

import { Injectable } from '@nestjs/common';

import { CorrelationWaiters } from '../../blackboard/correlations/correlation-waiters.js';
import { Cancellation } from '../../blackboard/execution/cancellation.js';
import type { Piece } from '../../blackboard/queries/stored-pieces.js';
import { type StoredText, StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { HeldRequest } from '../../common/held-request.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import type { RunListBody, RunListQuery } from './dto/run-list.js';
import type { RunRequest } from './dto/run-request.js';
import { type FoundRun, listedRunBody, runPieces, type RunRow } from './run.js';
import { type RunResult, RunResults } from './run-results.js';
import { RunStarts } from './run-starts.js';
import { RunsRepository } from './runs.repository.js';

/** Number of runs whose results one query reads. */
const STRIDE = 16;

const FIRST_GENERATION = 1;

/** Runs are the view that Interface A has of correlations that begin with one agent (docs/api.md, "Run a workflow"). */
@Injectable()
export class RunsService {
  constructor(
    private readonly starts: RunStarts,
    private readonly waiters: CorrelationWaiters,
    private readonly cancellation: Cancellation,
    private readonly unitOfWork: UnitOfWork,
    private readonly runs: RunsRepository,
    private readonly results: RunResults,
    private readonly texts: StoredTexts,
  ) {}

  /**
   * Returns a RunBody as JSON. Throws DomainError `not_found`, `invalid`, `conflict` (the correlation exists already),
   * `unavailable`.
   */
  async start(request: RunRequest, ids: RequestIds, held: HeldRequest): Promise<StoredText> {
    const { async_run: isAsync = false } = request;
    const { correlationId } = ids;
    if (isAsync) {
      const { isRepeated } = await this.starts.start(request, ids);
      held.releaseBody(request);
      const run = await this.find(correlationId);
      // It may have ended meanwhile, but the contract of an asynchronous run says that it is answered before.
      return this.texts.ofEffect(isRepeated ? await this.piecesOf(run) : runPieces(begun(run), undefined));
    }
    held.waits();
    await this.waiters.during(correlationId, async (wait) => {
      const { isRepeated } = await this.starts.start(request, ids);
      held.releaseBody(request);
      const hasEnded = isRepeated
        ? await this.waiters.wait(correlationId, FIRST_GENERATION, Number.MAX_SAFE_INTEGER)
        : await wait(FIRST_GENERATION, Number.MAX_SAFE_INTEGER);
      if (!hasEnded) throw stopping(correlationId);
    });
    return this.texts.ofEffect(await this.pieces(correlationId));
  }

  /** Returns a RunBody as JSON. Throws DomainError `not_found`. */
  async get(id: string): Promise<StoredText> {
    return this.texts.of(await this.pieces(id));
  }

  /**
   * Returns the run when it has ended, when `timeoutMs` have passed or when the service stops. Throws DomainError
   * `not_found`.
   */
  async whenEnded(id: string, timeoutMs: number): Promise<StoredText> {
    await this.waiters.wait(id, FIRST_GENERATION, timeoutMs);
    return this.texts.ofEffect(await this.pieces(id));
  }

  /** Yields the runs with their results, in the order of `runs`, which may contain a run several times. */
  async *withResults<Run extends FoundRun>(
    runs: readonly Run[],
  ): AsyncGenerator<{ run: Run; result: RunResult | undefined }> {
    for (let start = 0; start < runs.length; start += STRIDE) {
      const some = runs.slice(start, start + STRIDE);
      const results = await this.results.ofSome([...new Set(completedOf(some))]);
      for (const run of some) yield { run, result: results.get(run.id) };
      await yieldToEventLoop();
    }
  }

  async list(query: RunListQuery): Promise<RunListBody> {
    const { limit, offset } = query;
    const filter = {
      status: query.status ?? null,
      agent: query.agent ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
    };
    const rows = await this.runs.list(this.unitOfWork.reader, filter, { limit, offset });
    return {
      items: rows.slice(0, limit).map(listedRunBody),
      pagination: { limit, offset, has_more: rows.length > limit },
    };
  }

  /** Throws DomainError `not_found`, or `conflict` if the run has ended. */
  async cancel(id: string): Promise<StoredText> {
    await this.unitOfWork.run(async (tx) => {
      const run = await this.runs.find(tx.db, id);
      if (!run) throw new DomainError('not_found', `Run not found: ${id}`);
      if (run.status !== 'running')
        throw new DomainError('conflict', `Run ${id} has already ended (${run.status}) and cannot be cancelled`);
      await this.cancellation.cancel(tx, id);
    });
    return this.texts.ofEffect(await this.pieces(id));
  }

  /** Cancels the open runs of a batch. */
  async cancelBatch(tx: Transaction, batchId: string): Promise<void> {
    await this.cancellation.cancelOpen(tx, await this.runs.openInBatch(tx, batchId));
  }

  private async find(id: string): Promise<FoundRun> {
    const run = await this.runs.find(this.unitOfWork.reader, id);
    if (!run) throw new DomainError('not_found', `Run not found: ${id}`);
    return run;
  }

  private async pieces(id: string): Promise<Piece[]> {
    return this.piecesOf(await this.find(id));
  }

  private async piecesOf(run: FoundRun): Promise<Piece[]> {
    return runPieces(run, run.status === 'completed' ? await this.results.of(run.id) : undefined);
  }
}

/** The run as it was when it was stored. */
const begun = (run: FoundRun): FoundRun => ({
  ...run,
  ...{ status: 'running', ended_at: null, error: null },
  ...{ input_tokens: null, output_tokens: null, cost: null },
});

const stopping = (id: string): DomainError =>
  new DomainError(
    'unavailable',
    `The service is stopping; run ${id} continues after the next start: poll GET /run/${id}`,
  );

const completedOf = (runs: readonly RunRow[]): string[] =>
  runs.filter(({ status }) => status === 'completed').map(({ id }) => id);

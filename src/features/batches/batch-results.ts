import { Injectable } from '@nestjs/common';

import type { Piece } from '../../blackboard/queries/stored-pieces.js';
import { StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { Clock } from '../../common/clock.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RunsService } from '../runs/runs.service.js';
import { batchBody, type BatchRow, shownRound } from './batch.js';
import { BatchRowsRepository } from './batch-rows.repository.js';
import { FORMATS, itemPieces, type ItemResult, type ItemRow, type ResultsFormat } from './results-text.js';

export interface ResultsPage {
  status: 'completed' | 'failed' | null;
  limit: number;
  /** Number of results with this status to skip. */
  offset: number;
  /** Whether each result has the inputs of its item. */
  inputs: boolean;
}

/** Number of rows that one query reads. After it, other requests can run. */
const WINDOW = 200;

const ALWAYS = Number.MAX_SAFE_INTEGER;

/** Reads the results of the items that completed or failed, in the order of the input. */
@Injectable()
export class BatchResults {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly rows: BatchRowsRepository,
    private readonly runs: RunsService,
    private readonly texts: StoredTexts,
  ) {}

  /** Returns a BatchBody as JSON. `waitingFor` lists the agents that the batch waits for. */
  show(batch: BatchRow, page: ResultsPage, waitingFor: string[]): TextInParts {
    return this.texts.lazy(() => this.body(batch, page, waitingFor));
  }

  /** Returns all results, of a running batch those that there are now. */
  stream(batch: BatchRow, format: ResultsFormat, inputs: boolean): TextInParts {
    return this.texts.lazy(() => this.all(batch, format, inputs), FORMATS[format].contentType);
  }

  private async *body(batch: BatchRow, page: ResultsPage, waitingFor: string[]): AsyncGenerator<Piece> {
    // The split is safe: quotes within a value would be escaped.
    const [begin, end] = JSON.stringify(batchBody(batch, waitingFor)).split('"results":[]');
    yield `${begin}"results":[`;
    let separator = '';
    for await (const item of this.page(batch, page)) {
      yield separator;
      yield* itemPieces(item);
      separator = ',';
    }
    yield `]${end}`;
  }

  private async *all(batch: BatchRow, format: ResultsFormat, inputs: boolean): AsyncGenerator<Piece> {
    const { head, piecesOf } = FORMATS[format];
    yield head(inputs);
    const everything = { status: null, limit: Infinity, offset: 0, inputs };
    // While a batch runs as fast as its results are sent, they would otherwise end with the batch.
    const until = batch.status === 'running' ? this.clock.now() : ALWAYS;
    for await (const item of this.page(batch, everything, until)) yield* piecesOf(item);
  }

  /** `until`: when the last of the results has ended. */
  private async *page(batch: BatchRow, page: ResultsPage, until = ALWAYS): AsyncGenerator<ItemResult> {
    // Clients that only follow the progress ask with limit 0.
    if (page.limit === 0) return;
    const isWhole = page.status === null && batch.succeeded_items + batch.failed_items === batch.total_items;
    let skip = isWhole ? 0 : page.offset;
    let left = page.limit;
    for await (const rows of this.rowsOf(batch, isWhole ? page.offset : 0, until)) {
      const wanted = page.status === null ? rows : rows.filter(({ status }) => status === page.status);
      const shown = wanted.slice(skip, skip + left);
      for await (const item of this.runs.withResults(shown))
        yield page.inputs ? { ...item, inputs: await this.inputsOf(batch, item.run) } : item;
      skip = Math.max(0, skip - wanted.length);
      left -= shown.length;
      if (left <= 0) return;
    }
  }

  /**
   * One at a time, because each may take a megabyte. For an item that repeats another one, only the inputs of that one are
   * stored.
   */
  private async inputsOf({ seq }: BatchRow, { owner }: ItemRow): Promise<string> {
    const inputs = (await this.rows.inputsOf(this.unitOfWork.reader, seq, [owner])).get(owner);
    if (inputs === undefined) throw new Error('the batch was deleted while its results were sent');
    return inputs;
  }

  private async *rowsOf(batch: BatchRow, from: number, until: number): AsyncGenerator<ItemRow[]> {
    const { seq, total_items: total } = batch;
    const round = shownRound(batch);
    for (let low = from; low < total; low += WINDOW) {
      yield await this.rows.ended(this.unitOfWork.reader, { seq, round, low, high: low + WINDOW, until });
      await yieldToEventLoop();
    }
  }
}

import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { prepared } from '../database/prepared.js';
import { type Reader, UnitOfWork } from '../database/unit-of-work.js';
import type { FoundRun } from '../runs/run.js';
import { RunsService } from '../runs/runs.service.js';
import type { BatchRow } from './batch.js';
import type { BatchItemBody } from './dto/batch-body.js';

export interface ResultsPage {
  status: 'completed' | 'failed' | null;
  limit: number;
  /** Of the results that have this status. */
  offset: number;
}

/** Rows that one query looks at, after which other requests get their turn. */
const WINDOW = 500;

/** Of one page, which is made whole before it is sent: as it grows, so does the time in which nobody else is served. */
const MOST_PAGE_MIB = 16;

interface Stretch {
  seq: number;
  round: number;
  low: number;
  high: number;
}

type ItemRow = FoundRun & { position: number };

/** What came of a batch's items: those that completed or failed, in the order of the input. */
@Injectable()
export class BatchResults {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly runs: RunsService,
  ) {}

  /** DomainError `invalid` where the page is too large. */
  async page(batch: BatchRow, page: ResultsPage): Promise<BatchItemBody[]> {
    // How those ask who watch the progress alone.
    if (page.limit === 0) return [];
    const isWhole = page.status === null && batch.succeeded_items + batch.failed_items === batch.total_items;
    const from = isWhole ? page.offset : 0;
    let skip = isWhole ? 0 : page.offset;
    const found: ItemRow[] = [];
    for await (const rows of this.rowsOf(batch, from)) {
      const wanted = page.status === null ? rows : rows.filter(({ status }) => status === page.status);
      found.push(...wanted.slice(skip, skip + page.limit - found.length));
      skip = Math.max(0, skip - wanted.length);
      if (found.length >= page.limit) break;
    }
    return this.fittingBodies(found, batch.id);
  }

  async *all(batch: BatchRow): AsyncGenerator<BatchItemBody> {
    for await (const rows of this.rowsOf(batch, 0)) {
      for await (const { item } of this.bodies(rows)) yield item;
    }
  }

  private async *rowsOf({ seq, status, round: current, total_items: total }: BatchRow, from: number): AsyncGenerator<ItemRow[]> {
    const round = status === 'running' ? current : 0;
    for (let low = from; low < total; low += WINDOW) {
      yield await findItems(this.unitOfWork.reader, { seq, round, low, high: low + WINDOW });
      await setImmediate();
    }
  }

  private async fittingBodies(rows: ItemRow[], batchId: string): Promise<BatchItemBody[]> {
    const items: BatchItemBody[] = [];
    let total = 0;
    for await (const { item, bytes } of this.bodies(rows)) {
      total += bytes;
      // A single one is never too large: there are no fewer to ask for.
      if (items.length > 0 && total > MOST_PAGE_MIB * 1_024 ** 2) throw tooLarge(batchId);
      items.push(item);
    }
    return items;
  }

  private async *bodies(rows: ItemRow[]): AsyncGenerator<{ item: BatchItemBody; bytes: number }> {
    let index = 0;
    for await (const { body, bytes } of this.runs.bodies(rows)) yield { item: { index: rows[index++]!.position, ...body }, bytes };
  }
}

const tooLarge = (batchId: string): DomainError =>
  new DomainError(
    'invalid',
    `results_limit: these results are larger than ${MOST_PAGE_MIB} MiB together; ask for fewer, or stream all of them from GET /batch/${batchId}/results`,
  );

// A row that repeats another shows that one's run. While a batch runs, a failed run of an earlier round is to run again, and no
// result.
const findItems = prepared<Stretch, ItemRow>((db: Reader, place) =>
  db
    .selectFrom('batch_rows as item')
    .innerJoin('batch_rows as owner', (join) =>
      join.onRef('owner.batch_seq', '=', 'item.batch_seq').on(({ eb, fn, ref }) => eb('owner.position', '=', fn.coalesce(ref('item.repeats'), ref('item.position')))),
    )
    .innerJoin('runs', 'runs.id', 'owner.run_id')
    .leftJoin('executions', 'executions.id', 'runs.execution_id')
    .leftJoin('correlations', 'correlations.id', 'runs.id')
    .selectAll('runs')
    .select(['item.position', 'executions.started_at', 'correlations.input_tokens', 'correlations.output_tokens', 'correlations.cost'])
    .where('item.batch_seq', '=', place('seq'))
    .where('item.position', '>=', place('low'))
    .where('item.position', '<', place('high'))
    .where(({ or, and, eb }) => or([eb('runs.status', '=', 'completed'), and([eb('runs.status', '=', 'failed'), eb('runs.batch_round', '>=', place('round'))])]))
    .orderBy('item.position'),
);

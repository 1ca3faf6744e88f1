import { Inject, Injectable } from '@nestjs/common';

import { namesProblem } from '../../../blackboard/publishing/input-fit.js';
import { Catalog } from '../../../catalog/catalog.js';
import { DomainError } from '../../../common/domain-error.js';
import { Lifecycle } from '../../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../../common/logger.js';
import { Settings } from '../../../config/settings.js';
import { WaitingBytes } from '../waiting-bytes.js';
import { cellTypes } from './csv-columns.js';
import { csvColumns, type CsvSource } from './csv-columns.js';
import { openCsvFile } from './csv-file.js';
import {
  type BatchDraft,
  CSV_FACTOR,
  type ImportRow,
  inParts,
  LIST_FACTOR,
  type SentRows,
  staticBytes,
  StoredBytes,
} from './import-rows.js';
import { ImportsRepository } from './imports.repository.js';
import type { ListedItems } from './list-body.js';
import { checkRowKeys, listRows } from './list-rows.js';
import type { TemporaryFile } from './temporary-file.js';

// Every run stores them with its input.
const MAX_STATIC_INPUTS = 64 * 1_024;

/** Checks and stores the rows of a batch in parts, so that memory and other writers do not depend on their number. */
@Injectable()
export class BatchImport {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly lifecycle: Lifecycle,
    private readonly imports: ImportsRepository,
    private readonly waiting: WaitingBytes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Resolves when the batch and all its rows are stored and the batch is `running`. Rejects with DomainError `invalid`
   * if a row or an option is wrong, and `unavailable` if the service is stopping or too many rows wait. Nothing
   * is stored then.
   */
  async fromList(draft: BatchDraft, items: ListedItems): Promise<void> {
    checkStaticInputs(draft);
    if (items.count === 0) throw new DomainError('invalid', 'batch_inputs: must not be empty');
    const toRow = listRows(draft);
    await checkRowKeys(items, draft.rowKey);
    await this.store(
      draft,
      { field: 'batch_inputs', bytes: items.bytes, factor: LIST_FACTOR },
      listParts(items, toRow),
    );
  }

  /** Like `fromList`. */
  async fromUpload(draft: BatchDraft, { handle }: TemporaryFile, delimiter: string): Promise<void> {
    checkStaticInputs(draft);
    await this.storeCsv(draft, { field: 'file', file: handle, quotable: true }, delimiter);
  }

  /** Like `fromList`. `path` is relative to `csv_root`. */
  async fromPath(draft: BatchDraft, path: string, delimiter: string): Promise<void> {
    checkStaticInputs(draft);
    const file = await openCsvFile(this.settings, path);
    try {
      await this.storeCsv(draft, { field: 'batch_inputs', file, quotable: false }, delimiter);
    } finally {
      await file.close();
    }
  }

  private async storeCsv(draft: BatchDraft, source: CsvSource, delimiter: string): Promise<void> {
    // Loaded with its parser at the first CSV.
    const { readCsv } = await import('./csv-reader.js');
    const rows = readCsv(source.field, source.file, delimiter);
    const sent = { field: source.field, bytes: (await source.file.stat()).size, factor: CSV_FACTOR };
    const total = await this.store(draft, sent, this.csvParts(source, draft, rows));
    if (total === 0)
      throw new DomainError('invalid', `${source.field}: has no rows below its header; a batch needs at least one`);
  }

  private async *csvParts(
    source: CsvSource,
    draft: BatchDraft,
    lists: AsyncIterable<string[][]>,
  ): AsyncGenerator<ImportRow[]> {
    const types = cellTypes(this.catalog, draft.agent);
    const problemWith = source.quotable ? undefined : (names: string[]) => this.namesProblem(draft, names);
    let toRow: ((row: string[]) => ImportRow) | null = null;
    for await (const rows of lists) {
      toRow ??= csvColumns(source, rows.shift()!, draft, types, problemWith);
      yield* inParts(rows, toRow);
    }
    if (!toRow) throw new DomainError('invalid', `${source.field}: is empty; a CSV begins with a header`);
  }

  /** The start of a run would refuse such names, too, but quotes them, and these are content of the file. */
  private namesProblem({ agent, staticInputs }: BatchDraft, names: string[]): string | null {
    return namesProblem(this.catalog.agent(agent)!, [...new Set([...Object.keys(staticInputs), ...names])]);
  }

  /** Returns the number of rows. */
  private async store(draft: BatchDraft, sent: SentRows, parts: AsyncIterable<ImportRow[]>): Promise<number> {
    const stored = new StoredBytes(sent, draft);
    let seq: number | null = null;
    let total = 0;
    try {
      for await (const part of parts) {
        if (this.lifecycle.stopping) throw STOPPING;
        const bytes = stored.add(part);
        this.waiting.refuseTooLarge(sent.field, stored.total);
        this.waiting.refuseExcess(bytes);
        seq ??= await this.imports.begin(draft);
        await this.imports.add(seq, total, { rows: part, bytes, hasKeys: draft.rowKey !== null });
        total += part.length;
      }
      if (seq !== null) await this.imports.finish(seq, total);
      return total;
    } catch (error) {
      if (seq !== null) await this.discard(seq);
      throw error;
    }
  }

  private async discard(seq: number): Promise<void> {
    try {
      await this.imports.discard(seq);
    } catch (error) {
      // The remaining rows are hidden, and UnfinishedImports deletes them.
      this.logger.warn({ err: error }, 'the rows of a refused batch could not be deleted yet');
    }
  }
}

const STOPPING = new DomainError('unavailable', 'The service is stopping; send the batch again after its next start');

async function* listParts(items: ListedItems, toRow: (item: Buffer) => ImportRow): AsyncGenerator<ImportRow[]> {
  for await (const part of items.parts()) yield* inParts(part, toRow);
}

function checkStaticInputs(draft: BatchDraft): void {
  if (staticBytes(draft.staticInputs) > MAX_STATIC_INPUTS)
    throw new DomainError('invalid', 'static_inputs: must not be larger than 64 KiB, because every run stores them');
}

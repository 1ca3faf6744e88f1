import { Injectable } from '@nestjs/common';

import { NO_FILTER } from '../../blackboard/queries/artifact-filter.js';
import { ArtifactStore } from '../../blackboard/queries/artifact-store.js';
import { Catalog } from '../../catalog/catalog.js';
import { EXTERNAL } from '../../catalog/definitions.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { parseTimestamp } from '../../http/validation/query.js';
import { cellTypes, csvColumns } from '../batches/import/csv-columns.js';
import { inMemory } from '../batches/import/file-chunks.js';
import { type ImportRow, inParts } from '../batches/import/import-rows.js';
import { excerpt } from '../batches/import/input-names.js';
import { DataSourcesRepository } from './data-sources.repository.js';
import type { ArtifactSelection, Expected } from './definition.js';
import type { GivenData } from './definition-form.js';
import type { NewRow } from './experiment-rows.repository.js';

/** Rows in one transaction. On SQLite it blocks every other writer. */
const AT_ONCE = 250;
const FIELD = 'data.csv';

/** Reads the rows of data sets, in parts for single transactions. */
@Injectable()
export class DataSets {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly artifacts: ArtifactStore,
    private readonly sources: DataSourcesRepository,
  ) {}

  /** Throws DomainError `invalid`, `not_found`, `conflict`. */
  rows(data: GivenData, expected: Expected | null): AsyncIterable<NewRow[]> {
    if (data.csv !== undefined) return this.ofCsv(data.csv, data, expected);
    if (data.batch !== undefined) return this.ofBatch(data.batch);
    if (data.artifacts !== undefined) return this.ofArtifacts(data.artifacts);
    return ofCorrelations(data.correlations!);
  }

  private async *ofCsv(
    csv: string,
    { agent, delimiter = ',' }: GivenData,
    expected: Expected | null,
  ): AsyncGenerator<NewRow[]> {
    // Loaded with its parser at the first CSV.
    const { readCsv } = await import('../batches/import/csv-reader.js');
    const column = expected && 'column' in expected ? expected.column : null;
    let toRow: ((row: string[]) => ImportRow) | null = null;
    for await (const rows of readCsv(FIELD, inMemory(Buffer.from(csv)), delimiter)) {
      toRow ??= this.columns(rows.shift()!, agent!, column);
      for (const part of inParts(rows, toRow)) yield part.map(rowOfCsv);
      await yieldToEventLoop();
    }
    if (!toRow) throw new DomainError('invalid', `${FIELD}: is empty; a CSV begins with a header`);
  }

  /** All columns are inputs, except that with the expected value. */
  private columns(header: string[], agent: string, column: string | null): (row: string[]) => ImportRow {
    if (column !== null && !header.includes(column))
      throw new DomainError('invalid', `expected.column: the header has no column ${excerpt(column)}`);
    const inputs = header.filter((name) => name !== column).map((name) => [name, name]);
    const inputMapping = column === null ? null : (Object.fromEntries(inputs) as Record<string, string>);
    const source = { field: FIELD, quotable: true };
    return csvColumns(source, header, { inputMapping, rowKey: column }, cellTypes(this.catalog, agent));
  }

  private async *ofBatch(id: string): AsyncGenerator<NewRow[]> {
    const { reader } = this.unitOfWork;
    const batch = await this.sources.batch(reader, id);
    if (!batch) throw new DomainError('not_found', `Batch not found: ${id}`);
    if (batch.status === 'running')
      throw new DomainError('conflict', `Batch ${id} is still running; start the experiment when it has ended`);
    for (let after = -1; ; await yieldToEventLoop()) {
      const runs = await this.sources.runs(reader, batch.seq, { after, limit: AT_ONCE });
      if (runs.length === 0) return;
      after = runs.at(-1)!.position;
      yield runs.map(({ run_id }) => replayed('correlation', run_id));
    }
  }

  private async *ofArtifacts({ type, tags = [], from, to }: ArtifactSelection): AsyncGenerator<NewRow[]> {
    const filter = {
      ...NO_FILTER,
      types: [type],
      producers: [EXTERNAL],
      tags: [...new Set(tags)],
      from: from === undefined ? null : parseTimestamp(from)!,
      to: to === undefined ? null : parseTimestamp(to)!,
      replays: false,
    };
    for (let after: number | null = null; ; await yieldToEventLoop()) {
      const page = { order: 'asc' as const, limit: AT_ONCE, offset: 0, after };
      const seqs: number[] = await this.artifacts.positions(filter, page);
      if (seqs.length === 0) return;
      after = seqs.at(-1)!;
      const ids = await this.sources.idsAt(this.unitOfWork.reader, seqs);
      yield seqs.flatMap((seq) => ids.get(seq) ?? []).map((artifact) => replayed('artifact', artifact));
    }
  }
}

async function* ofCorrelations(ids: readonly string[]): AsyncGenerator<NewRow[]> {
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    yield ids.slice(start, start + AT_ONCE).map((id) => replayed('correlation', id));
    await yieldToEventLoop();
  }
}

const rowOfCsv = ({ inputs, problem, key }: ImportRow): NewRow => ({
  origin: null,
  origin_kind: null,
  inputs,
  expected: key === null ? null : JSON.stringify(key),
  problem,
});

const replayed = (kind: 'artifact' | 'correlation', id: string): NewRow => ({
  origin: id,
  origin_kind: kind,
  inputs: null,
  expected: null,
  problem: null,
});

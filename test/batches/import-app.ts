import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Clock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';
import { MemoryBudget } from '../../src/common/memory-budget.js';
import type { Settings } from '../../src/config/settings.js';
import { BatchImport } from '../../src/features/batches/import/batch-import.js';
import type { BatchDraft } from '../../src/features/batches/import/import-rows.js';
import { readListBody } from '../../src/features/batches/import/list-body.js';
import { Spool } from '../../src/features/batches/import/spool.js';
import { TemporaryFile } from '../../src/features/batches/import/temporary-file.js';
import { UploadSpace } from '../../src/features/batches/import/upload-space.js';
import { startApp, type TestApp } from '../support/app.js';

const MIB = 1_024 * 1_024;

const CONFIG = `
types:
  Person:
    schema:
      type: object
      properties:
        age: { type: integer }
        height: { type: number }
        member: { type: boolean }
        note: { type: string }
        maybe: { type: [integer, 'null'] }
        mixed: { type: [boolean, number, string] }
agents:
  greeter:
    consumes: [{ types: [Person, Letter] }, { types: [Person] }]
    publishes: [{ type: Greeting }]
    engine: { kind: function, module: ./never.js }
  joiner:
    consumes: [{ types: [Person, Letter] }]
    publishes: [{ type: Greeting }]
    engine: { kind: function, module: ./never.js }
`;

const NEVER = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

export interface StoredRow {
  position: number;
  inputs: string;
  problem: string | null;
  repeats: number | null;
  copies: number;
}

/** An application with a folder for CSV files, and queries on its database. */
export class ImportApp {
  private constructor(
    readonly app: TestApp,
    readonly root: string,
  ) {}

  static async start(settings: Partial<Settings> = {}, clock?: Clock): Promise<ImportApp> {
    const root = await mkdtemp(join(tmpdir(), 'starling-csv-'));
    const app = await startApp({
      config: CONFIG,
      files: { 'never.js': NEVER },
      settings: { csvRoot: root, shutdownGraceMs: 0, ...settings },
      clock,
    });
    return new ImportApp(app, root);
  }

  async close(): Promise<void> {
    await this.app.close();
    await rm(this.root, { recursive: true });
  }

  /** Writes a file and returns the name by which a request names it. */
  async file(name: string, content: string | Buffer): Promise<string> {
    await writeFile(join(this.root, name), content);
    return name;
  }

  /** Imports the text as an uploaded CSV, and returns the stored rows. */
  async csv(content: string | Buffer, draft: Partial<BatchDraft> = {}, delimiter = ','): Promise<StoredRow[]> {
    const file = await TemporaryFile.open(this.space, () => undefined);
    try {
      await file.append(Buffer.from(content));
      return await this.take(draft, (whole) => this.importer.fromUpload(whole, file, delimiter));
    } finally {
      await file.close();
    }
  }

  /** Imports the text as a file below csv_root, and returns the stored rows. */
  path(path: string, draft: Partial<BatchDraft> = {}, delimiter = ','): Promise<StoredRow[]> {
    return this.take(draft, (whole) => this.importer.fromPath(whole, path, delimiter));
  }

  async list(items: object[], draft: Partial<BatchDraft> = {}): Promise<StoredRow[]> {
    const spool = new Spool(
      this.space,
      () => undefined,
      () => undefined,
    );
    await spool.add(Buffer.from(JSON.stringify({ batch_inputs: items })));
    const limits = { item: MIB, rest: MIB };
    const { items: listed } = await readListBody(spool, limits, new MemoryBudget(64 * MIB).reserve(0), false);
    try {
      return await this.take(draft, (whole) => this.importer.fromList(whole, listed!));
    } finally {
      await spool.close();
    }
  }

  /** Returns the rows of each batch table. */
  async held(): Promise<Record<'batches' | 'batch_rows' | 'batch_keys', number>> {
    const [held] = await this.app.database.rows<Record<'batches' | 'batch_rows' | 'batch_keys', number>>(
      `select (select count(*) from batches) as batches, (select count(*) from batch_rows) as batch_rows, (select count(*) from batch_keys) as batch_keys`,
    );
    return held!;
  }

  async batch(id: string): Promise<object | undefined> {
    const [batch] = await this.app.database.rows(`select * from batches where id = '${id}'`);
    return batch;
  }

  /** Returns a batch's rows in their order. */
  rows(id: string): Promise<StoredRow[]> {
    const select = `select position, inputs, problem, repeats, copies from batch_rows where batch_seq = (select seq from batches where id = '${id}')`;
    return this.app.database.rows<StoredRow>(`${select} order by position`);
  }

  private async take(draft: Partial<BatchDraft>, takeIn: (whole: BatchDraft) => Promise<void>): Promise<StoredRow[]> {
    const whole = draftOf(draft);
    await takeIn(whole);
    return this.rows(whole.id);
  }

  private get space(): UploadSpace {
    return this.app.app.get(UploadSpace, { strict: false });
  }

  private get importer(): BatchImport {
    return this.app.app.get(BatchImport, { strict: false });
  }
}

export const draftOf = (draft: Partial<BatchDraft> = {}): BatchDraft => ({
  id: newId(),
  agent: 'greeter',
  maxWorkers: 5,
  staticInputs: {},
  inputMapping: null,
  rowKey: null,
  ...draft,
});

export const inputsOf = (rows: readonly StoredRow[]): unknown[] =>
  rows.map(({ inputs }) => JSON.parse(inputs) as unknown);

import { hash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { canonicalJson, type JsonObject } from '../../common/json.js';
import { laterTurn } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { artifactFromRow, type ArtifactRow } from '../artifacts/artifact.js';
import { findAnsweredSeqs, findInputSizes, findInputsOf, type InputSize } from './unanswered-rows.js';

/** Executions whose inputs are remembered, of all replays together. Each takes about 100 bytes. */
const MOST_REMEMBERED = 100_000;
/** An empty record counts as this many executions. */
const SIZE_OF_RECORD = 10;
/** Executions that one query reads, and the payloads that they may have together (bytes). One alone may have more. */
const READ_AT_ONCE = 32;
const BYTES_AT_ONCE = 128 * 1_024;

/** Runs `work`, which parses payloads of `bytes` bytes, when there is memory for it. */
export type Parsing = <T>(bytes: number, work: () => Promise<T>) => Promise<T>;

/** The executions of an agent in the original of a replay from which an answer may be taken. */
export interface Answered {
  replay: string;
  origin: string;
  agent: string;
  /** The digests of the definitions that they may have had. Without one, there are none. */
  definitions: readonly string[];
}

interface InputRecord {
  /** The positions of all of them, oldest first. */
  seqs: readonly number[];
  /** How many of `seqs` are in `oldest`. */
  read: number;
  /** Digest of inputs → the position of the oldest execution that had them. */
  oldest: Map<string, number>;
  /** The last lookup. The next one waits for its end, so that no execution is read twice. */
  last: Promise<unknown>;
}

/**
 * Finds executions of an original by their inputs. Each is read once for all lookups of a replay: if every lookup read
 * them all, the time would grow with the square of their number.
 */
@Injectable()
export class RecordedInputs {
  /** By replay and agent. The one that was used last is at the end. */
  private readonly records = new Map<string, InputRecord>();

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Returns the position of the oldest execution that had inputs with this digest (`digestOf`); undefined if none had.
   * `hasAnswers`: whether there are executions of that agent and definition, with any inputs.
   */
  async find(
    answered: Answered,
    digest: string,
    parsing: Parsing,
  ): Promise<{ seq: number | undefined; hasAnswers: boolean }> {
    const record = await this.recordOf(answered);
    const found = record.last.then(() => record.oldest.get(digest) ?? this.search(record, digest, parsing));
    record.last = found.catch(() => undefined);
    return { seq: await found, hasAnswers: record.seqs.length > 0 };
  }

  private async recordOf(answered: Answered): Promise<InputRecord> {
    // A later replay of the same original may find more in it.
    const key = JSON.stringify([answered.replay, answered.agent]);
    let record = this.records.get(key);
    if (!record) {
      const seqs = await findAnsweredSeqs(this.unitOfWork.reader, answered);
      // Another lookup may have made it meanwhile.
      record = this.records.get(key) ?? { seqs, read: 0, oldest: new Map<string, number>(), last: Promise.resolve() };
    }
    this.records.delete(key);
    this.records.set(key, record);
    this.forgetUntilRoom(key);
    return record;
  }

  private async search(record: InputRecord, digest: string, parsing: Parsing): Promise<number | undefined> {
    const { reader } = this.unitOfWork;
    for (let from = record.read; from < record.seqs.length;) {
      const page = record.seqs.slice(from, from + READ_AT_ONCE);
      const part = firstOf(await findInputSizes(reader, page));
      const digests = await this.digestsOf(part, parsing);
      // Retention may have deleted those that were not found.
      const end = from + page.indexOf(part.at(-1)?.seq ?? page.at(-1)!) + 1;
      if (record.read === from && this.hasRoom) {
        for (const each of digests) if (!record.oldest.has(each.digest)) record.oldest.set(each.digest, each.seq);
        record.read = end;
      }
      const found = digests.find((each) => each.digest === digest);
      if (found) return found.seq;
      from = end;
      // SQLite answers without a pause in which other work could run.
      await laterTurn();
    }
    return undefined;
  }

  private digestsOf(part: readonly InputSize[], parsing: Parsing): Promise<{ seq: number; digest: string }[]> {
    return parsing(bytesOf(part), async () => {
      const ids = part.map(({ id }) => id);
      const inputs = Map.groupBy(await findInputsOf(this.unitOfWork.reader, {}, ids), ({ input_of }) => input_of);
      return part.map(({ seq, id, batch }) => ({ seq, digest: digestOf(batch, inputs.get(id) ?? []) }));
    });
  }

  /** Forgets the records that were not used for the longest time, but not this one. */
  private forgetUntilRoom(kept: string): void {
    for (const key of this.records.keys()) {
      if (this.hasRoom || key === kept) return;
      this.records.delete(key);
    }
  }

  /** Without room, lookups read again what could not be remembered. */
  private get hasRoom(): boolean {
    let size = 0;
    for (const { oldest } of this.records.values()) size += SIZE_OF_RECORD + oldest.size;
    return size < MOST_REMEMBERED;
  }
}

/** The first of the executions, as many as one query may read. */
function firstOf(sizes: readonly InputSize[]): InputSize[] {
  const first: InputSize[] = [];
  for (const size of sizes) {
    if (first.length > 0 && bytesOf(first) + size.input_bytes > BYTES_AT_ONCE) break;
    first.push(size);
  }
  return first;
}

const bytesOf = (sizes: readonly InputSize[]): number => sizes.reduce((sum, { input_bytes }) => sum + input_bytes, 0);

/** A digest of all that an agent sees of its inputs, except ids and times, which differ in every replay. */
export const digestOf = (batch: number, inputs: readonly ArtifactRow[]): string => {
  const seen = inputs
    .map(artifactFromRow)
    .map(({ type, version, payload, tags, produced_by, partition_key }) => [
      type,
      version,
      type === WORKFLOW_ERROR ? withoutIds(payload) : payload,
      tags,
      produced_by,
      partition_key,
    ]);
  return hash('sha256', canonicalJson([batch, seen]), 'base64url');
};

/** The ids and the time of a WorkflowError are in its payload. */
const withoutIds = (payload: JsonObject): JsonObject => ({
  ...payload,
  execution_id: null,
  input_artifact_ids: null,
  timestamp: null,
});

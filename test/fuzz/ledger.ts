import type { TestDatabase } from '../support/database.js';
import { saysAgentFailed } from './answers.js';
import type { FuzzRequest } from './requests.js';
import type { Answer } from './send.js';

/** Counts of the rows that requests create; agents add to none of them. */
export interface Holdings {
  /**
   * Artifacts published into each correlation except those of runs: a run may have the id of a correlation that was
   * published into.
   */
  published: ReadonlyMap<string, number>;
  /** Artifacts published into each replay. */
  replays: ReadonlyMap<string, number>;
  directRuns: number;
  /** The inputs of direct runs; each has a separate correlation. */
  directInputs: number;
  /** Batches and their runs come when workers are free, and are not counted. */
  runs: string[];
  batches: string[];
  operations: string[];
  /** Their trials come when workers are free, and are not counted. */
  experiments: string[];
  keys: string[];
}

/** The rows that accepted requests must have left in the database. Any other row comes from a refused request. */
export class Ledger {
  private readonly published = new Map<string, number>();
  private readonly replays = new Map<string, number>();
  private directRuns = 0;
  private directInputs = 0;
  private readonly runs = new Set<string>();
  private readonly batches = new Set<string>();
  private readonly operations = new Set<string>();
  private readonly experiments = new Set<string>();
  private readonly keys = new Set<string>();

  /** Uses the answer, because a target may be written in many ways. */
  enter({ target, headers, body }: FuzzRequest, { status, headers: answered, text }: Answer): void {
    const answer =
      status === 200 && text !== '' && answered['content-type']?.startsWith('application/json')
        ? (JSON.parse(text) as object)
        : {};
    const isAccepted = 'status' in answer && answer.status === 'accepted';
    const isSync = 'duration_ms' in answer;
    if (isAccepted || isSync) {
      const key = headers['X-Idempotency-Key'];
      if (key !== undefined) this.keys.add(`POST /api/v1/artifacts${isSync ? '/sync' : ''} ${key}`);
      if (answered['x-idempotency-replayed'] !== undefined) return;
      count(this.published, answered['x-correlation-id'] as string);
    } else if ('origin' in answer && 'mode' in answer) {
      const replay = answer as unknown as { correlation_id: string; origin: string; published: number };
      const { correlation_id, origin, published } = replay;
      const artifact = /\/artifacts\/([^/]+)\//i.exec(target)?.[1];
      const original = artifact ? `artifacts/${decodeURIComponent(artifact)}` : `correlations/${origin}`;
      const key = headers['X-Idempotency-Key'];
      if (key !== undefined) this.keys.add(`POST /api/v1/${original}/replay ${key}`);
      this.replays.set(correlation_id, published);
    } else if ('run_id' in answer) {
      this.runs.add(answer.run_id as string);
      if (headers['X-Idempotency-Key'] !== undefined) this.keys.add(`POST /run/flock ${headers['X-Idempotency-Key']}`);
    } else if ('batch_id' in answer) {
      this.batches.add(answer.batch_id as string);
      if (headers['X-Idempotency-Key'] !== undefined) this.keys.add(`POST /run/batch ${headers['X-Idempotency-Key']}`);
    } else if ('operation_id' in answer || Object.keys(answer).join() === 'matched') {
      if ('operation_id' in answer) this.operations.add(answer.operation_id as string);
      const action = /executions\/(retry|fail)/i.exec(target)?.[1]!.toLowerCase();
      const key = headers['X-Idempotency-Key'];
      if (action && key !== undefined) this.keys.add(`POST /api/v1/executions/${action} ${key}`);
    } else if ('experiment_id' in answer) {
      this.experiments.add(answer.experiment_id as string);
      const key = headers['X-Idempotency-Key'];
      const isStart = /\/experiments\/?(\?|$)/i.test(target);
      if (isStart && key !== undefined) this.keys.add(`POST /api/v1/experiments ${key}`);
    } else if (saysAgentFailed(status, text) || Object.keys(answer).join() === 'artifacts') {
      this.directRuns += 1;
      this.directInputs += (JSON.parse(body!.toString()) as { inputs: unknown[] }).inputs.length;
    }
  }

  get holdings(): Holdings {
    const { published, replays, directRuns, directInputs, runs, batches, operations, experiments, keys } = this;
    const sorted = (ids: Set<string>): string[] => [...ids].sort();
    const outsideRuns = new Map([...published].filter(([correlation]) => !runs.has(correlation)));
    return {
      published: outsideRuns,
      replays,
      directRuns,
      directInputs,
      runs: sorted(runs),
      batches: sorted(batches),
      operations: sorted(operations),
      experiments: sorted(experiments),
      keys: sorted(keys),
    };
  }
}

/** A map, because `__proto__` is an id like any other. */
const count = (counts: Map<string, number>, id: string): void => void counts.set(id, (counts.get(id) ?? 0) + 1);

/** Returns the rows in the application's database. */
export async function storedIn(database: TestDatabase): Promise<Holdings> {
  const texts = async (query: string): Promise<string[]> =>
    (await database.rows<{ value: string }>(query)).map(({ value }) => value).sort();
  const trials = `select correlation_id from experiment_trials`;
  const ofTrials = `select id from correlations where id in (${trials}) or origin in (${trials})`;
  const ofReplays = `select id from correlations where origin is not null`;
  const directly = `select distinct correlation_id as value from executions where direct = 1 and correlation_id not in (${ofReplays})`;
  const ofRuns = `select id as value from runs`;
  const external = `select correlation_id as value from artifacts where produced_by = 'external'`;
  const counted = async (query: string): Promise<Map<string, number>> => {
    const counts = new Map<string, number>();
    for (const id of await texts(query)) count(counts, id);
    return counts;
  };
  return {
    published: await counted(
      `${external} and correlation_id not in (${directly}) and correlation_id not in (${ofRuns})` +
        ` and correlation_id not in (${ofReplays})`,
    ),
    replays: await counted(`${external} and correlation_id in (${ofReplays}) and correlation_id not in (${ofTrials})`),
    directRuns: (await texts(directly)).length,
    directInputs: (await texts(`${external} and correlation_id in (${directly})`)).length,
    runs: await texts(`select id as value from runs where batch_id is null`),
    batches: await texts(`select id as value from batches`),
    operations: await texts(`select id as value from operations`),
    experiments: await texts(`select id as value from experiments`),
    keys: await texts(`select endpoint || ' ' || key as value from idempotency_keys`),
  };
}

import type { Catalog } from '../catalog/catalog.js';
import type { Server } from '../cli/client/server.js';
import type { JsonObject } from '../common/json.js';
import { toTimestamp } from '../common/timestamp.js';
import { parseDuration } from '../common/units.js';
import { type Answer, type Answers, requireAgent } from './agent-answers.js';
import type { ClaimedWork, ExternalWork } from './claimed-work.js';
import type { ManualClock } from './manual-clock.js';
import type { OpenWork } from './open-work.js';
import type { RecordedModels } from './recorded-models.js';
import type { ClaimFields, FailFields, PublishFields, TestKit } from './test-kit.js';
import { ReadRun, type TestRun } from './test-run.js';

interface Parts {
  catalog: Catalog;
  clock: ManualClock;
  answers: Answers;
  models: RecordedModels;
  openWork: OpenWork;
  external: ExternalWork;
  /** Milliseconds. */
  patience: number;
}

/** Each call waits until nothing happens any more before the clock is moved. */
export class RunningTestKit implements TestKit {
  private readonly runs = new Set<ReadRun>();
  private closing: Promise<void> | null = null;

  constructor(
    private readonly server: Server,
    private readonly parts: Parts,
    private readonly stop: () => Promise<void>,
  ) {}

  get url(): string {
    return this.server.url;
  }

  get now(): string {
    return toTimestamp(this.parts.clock.now());
  }

  answer(agent: string, answer: Answer): void {
    this.parts.answers.set(agent, answer);
  }

  async publish(type: string, payload: JsonObject, fields: PublishFields = {}): Promise<TestRun> {
    const { correlation_id, ...more } = fields;
    const { headers } = await this.server.post(
      '/api/v1/artifacts',
      { type, payload, ...more } as unknown as JsonObject,
      correlation_id === undefined ? {} : { 'X-Correlation-ID': correlation_id },
    );
    return this.follow(headers['x-correlation-id'] as string);
  }

  async run(agent: string, inputs: JsonObject = {}): Promise<TestRun> {
    requireAgent(this.parts.catalog, agent);
    const request = { agent_name: agent, inputs, async_run: true };
    const { body } = await this.server.post<{ run_id: string }>('/run/flock', request);
    return this.follow(body.run_id);
  }

  async advance(duration: string | number): Promise<void> {
    const { clock, openWork } = this.parts;
    const target = clock.now() + milliseconds(duration);
    await this.settle();
    for (let next = await openWork.nextTime(); next !== null && next <= target; next = await openWork.nextTime()) {
      clock.advance(next - clock.now());
      await this.settle();
    }
    clock.advance(target - clock.now());
    await this.settle();
  }

  claim(agent: string, { assignee }: ClaimFields = {}): Promise<ClaimedWork> {
    requireAgent(this.parts.catalog, agent);
    return this.parts.external.claim(agent, assignee);
  }

  async complete(work: ClaimedWork | string, output: Exclude<Answer, (inputs: never) => unknown>): Promise<void> {
    await this.parts.external.complete(typeof work === 'string' ? await this.claim(work) : work, output);
    await this.settle();
  }

  async fail(work: ClaimedWork | string, message: string, fields: FailFields = {}): Promise<void> {
    const claimed = typeof work === 'string' ? await this.claim(work) : work;
    await this.parts.external.fail(claimed, { error_message: message, ...fields });
    await this.settle();
  }

  close(): Promise<void> {
    this.closing ??= this.stop();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async follow(correlationId: string): Promise<TestRun> {
    const run = new ReadRun(this.server, correlationId);
    this.runs.add(run);
    await this.settle();
    return run;
  }

  /** Resolves when nothing happens any more before the clock is moved, and every run shows it. */
  private async settle(): Promise<void> {
    const { openWork, external, models, patience } = this.parts;
    do await openWork.ended(patience);
    while (await external.answer());
    models.throwIfUnrecorded();
    for (const run of this.runs) {
      await run.refresh();
      if (run.state !== 'active') this.runs.delete(run);
    }
  }
}

function milliseconds(duration: string | number): number {
  const found = typeof duration === 'number' ? duration : parseDuration(duration);
  if (found === null || !(found >= 0))
    throw new Error(`advance: must be a duration such as 500ms, 30s, 48h or PT48H (got ${JSON.stringify(duration)})`);
  return found;
}

import type { Visibility } from '../catalog/visibility.js';
import type { JsonObject } from '../common/json.js';
import type { Answer } from './agent-answers.js';
import type { ClaimedWork } from './claimed-work.js';
import type { TestRun } from './test-run.js';

/** Further fields of a published artifact, as on the wire. */
export interface PublishFields {
  correlation_id?: string;
  tags?: string[];
  partition_key?: string;
  visibility?: Visibility;
  /** A duration such as `5m` or `PT5M`. */
  deadline?: string;
}

export interface ClaimFields {
  /** Claims only an execution with this assignee, as a claim over HTTP does. Default: any execution. */
  assignee?: string;
}

export interface FailFields {
  error_type?: string;
  /** Whether no further attempt follows. */
  final?: boolean;
}

/**
 * A configuration that runs in the process of a test. Each call waits until nothing happens any more before the clock is
 * moved, and rejects if a model got a request that is not recorded.
 */
export interface TestKit extends AsyncDisposable {
  /** The URL at which the application answers HTTP, on a free port of this machine, without a slash at its end. */
  readonly url: string;

  /** The time of the test's clock, in UTC ISO 8601. */
  readonly now: string;

  /** Replaces an agent, from its next execution on. */
  answer(agent: string, answer: Answer): void;

  /** Publishes an artifact, as a client does. */
  publish(type: string, payload: JsonObject, fields?: PublishFields): Promise<TestRun>;

  /** Runs one agent and everything that follows, as `starling run` does. */
  run(agent: string, inputs?: JsonObject): Promise<TestRun>;

  /**
   * Moves the clock by a duration such as `48h`, `PT48H` or a number of milliseconds. What becomes due on the way
   * happens at its time, in order: retries, timers, due times and the ends of leases.
   */
  advance(duration: string | number): Promise<void>;

  /** Claims an execution of an external agent. Rejects if none waits. */
  claim(agent: string, fields?: ClaimFields): Promise<ClaimedWork>;

  /** Completes claimed work, or the oldest execution of an external agent. Rejects if its output is refused. */
  complete(work: ClaimedWork | string, output: Exclude<Answer, (inputs: never) => unknown>): Promise<void>;

  /** Fails an attempt of claimed work, or of the oldest execution of an external agent. */
  fail(work: ClaimedWork | string, message: string, fields?: FailFields): Promise<void>;

  /** Stops the application and deletes its data. Further calls do nothing. */
  close(): Promise<void>;
}

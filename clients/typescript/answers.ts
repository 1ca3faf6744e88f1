import type { ExternalAgents, Payloads } from './catalog.ts';

export type TypeName = keyof Payloads & string;
/** The name of an external agent. */
export type AgentName = keyof ExternalAgents & string;

export type Visibility =
  | { kind: 'Public' }
  | { kind: 'Private'; agents: string[] }
  | { kind: 'Labelled'; required_labels: string[] }
  | { kind: 'Tenant'; tenant_id: string | null }
  | { kind: 'After'; ttl: string; then?: Visibility };

/** An artifact of one of the types `T`. If these are several types, `type` says which one it has. */
export type Artifact<T extends TypeName = TypeName> = {
  [K in T]: {
    id: string;
    type: K;
    payload: Payloads[K];
    tags: string[];
    visibility: Visibility;
    produced_by: string;
    created_at: string;
    correlation_id: string;
    partition_key: string | null;
    version: number;
    execution_id?: string | null;
  };
}[T];

/** An artifact that a worker publishes. */
export type Output<T extends TypeName = TypeName> = {
  [K in T]: { type: K; payload: Payloads[K]; tags?: string[]; visibility?: Visibility };
}[T];

export interface PublishOptions {
  tags?: string[];
  partition_key?: string | null;
  visibility?: Visibility;
  /** ISO 8601 duration: unfinished work is cancelled after it. */
  deadline?: string;
  webhook?: { url: string; secret?: string };
  /** The correlation that the artifact joins; a new one if absent. */
  correlation_id?: string;
  /** With the same key, the server accepts the artifact only once. A random key if absent, for the retries of this call. */
  idempotency_key?: string;
  signal?: AbortSignal;
}

export interface WaitOptions extends PublishOptions {
  /** Seconds to wait at most: 1 to 300, 30 if absent. */
  timeout?: number;
}

/** The artifacts that agents have produced after a publish. */
export class Run {
  readonly correlation_id: string;
  readonly artifacts: Artifact[];
  /** False if work was left when the timeout had passed. It continues on the server. */
  readonly completed: boolean;
  readonly duration_ms: number;

  constructor(answer: Pick<Run, 'correlation_id' | 'artifacts' | 'completed' | 'duration_ms'>) {
    this.correlation_id = answer.correlation_id;
    this.artifacts = answer.artifacts;
    this.completed = answer.completed;
    this.duration_ms = answer.duration_ms;
  }

  /** The artifacts of a type, in the order of their publishing. */
  all<T extends TypeName>(type: T): Artifact<T>[] {
    return this.artifacts.filter((artifact) => artifact.type === type) as Artifact<T>[];
  }

  /** The first artifact of a type, or undefined if there is none. */
  first<T extends TypeName>(type: T): Artifact<T> | undefined {
    return this.all(type)[0];
  }
}

/** An entry of the changelog. It has no payload: `artifact(artifact_id)` reads it. */
export interface Entry {
  seq: number;
  event_type: 'artifact_published';
  artifact_id: string;
  artifact_type: TypeName;
  produced_by: string;
  correlation_id: string;
  visibility: Visibility;
  timestamp: string;
  /** True if its correlation is a replay; otherwise absent. */
  replay?: boolean;
}

export interface StreamOptions {
  artifact_type?: TypeName[];
  correlation_id?: string;
  produced_by?: string[];
  /** The position after which the stream begins: 0 is the beginning of the changelog. If absent, it begins with the next artifact. */
  after?: number;
  signal?: AbortSignal;
}

/** An execution that a worker holds. */
export interface Execution<T extends TypeName = TypeName> {
  /** The same on every attempt: the idempotency key for effects outside. */
  execution_id: string;
  correlation_id: string;
  agent: string;
  attempt: number;
  inputs: Artifact<T>[];
  lease_token: string;
  lease_until: string;
  assignee: string | null;
  /** Aborts if the lease is lost: another worker may have the execution then. */
  signal: AbortSignal;
}

/** Returns what an execution of an external agent publishes: an output or a list, which may be empty. */
export type Handle<A extends AgentName> = (
  execution: Execution<ExternalAgents[A]['consumes']>,
) => Promise<Output<ExternalAgents[A]['publishes']> | Output<ExternalAgents[A]['publishes']>[]>;

export interface WorkerOptions {
  /** The name that lists and traces show. */
  claimed_by?: string;
  /** Claims only the executions of this assignee. */
  assignee?: string;
  /** How many executions it works on at the same time: 1 to 100, 1 if absent. */
  max?: number;
  /** Stops the worker after the executions that it holds. */
  signal?: AbortSignal;
}

/** The server refused a request. `status` is that of HTTP, and the message says what to change. */
export class StarlingError extends Error {
  override readonly name = 'StarlingError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

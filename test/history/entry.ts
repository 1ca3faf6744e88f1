/**
 * One line of a history file, as JSON. An operation has an `invoke`, and then one end of the same process: `ok`, `fail` if
 * it certainly had no effect, or `info` if it is not known whether it had one. A process has one operation at a time, and
 * none after an `info`.
 */
export interface Entry {
  /** Milliseconds since the Unix epoch. */
  time: number;
  process: string;
  type: 'invoke' | 'ok' | 'fail' | 'info';
  operation: OperationName;
  /** Names the subject of the operation. Requests with the same key are the same request, sent again. */
  key: string;
  /** The question or, in an `ok`, the answer: see the interfaces below. */
  value?: unknown;
}

/** The requests of clients. */
export const REQUESTS = ['order', 'left', 'right', 'run', 'nap', 'batch'] as const;
export type RequestName = (typeof REQUESTS)[number];

export type OperationName = RequestName | 'cancel' | 'read' | 'execute' | 'look' | 'configure' | 'end';

/** Asked in a request. `key` of its entries is also the name that its artifacts have in `End`. */
export interface Asked {
  /** Null if it is sent once. */
  idempotency_key: string | null;
}

/** The answer to a request. */
export interface Answered {
  /** The body as it came. */
  text: string;
  /** True if the service says that it is the answer of an earlier request. */
  replayed: boolean;
}

/** Asked in a `read`: a page of the changelog. */
export interface ReadAfter {
  after: number;
}

/** The answer to a `read`: positions and artifact ids. */
export interface Page {
  entries: [position: number, id: string][];
}

/**
 * Asked in an `execute`: one time that an execution ran, under one lease. Its key is the execution's id, and its times
 * are those of the database: `ok` if it completed, otherwise `fail`.
 */
export interface Execution {
  agent: string;
  /** The key of the request that it follows from. */
  request: string;
}

/** The answer to a `look`: one snapshot of the database while work continues. */
export interface Look {
  /** How many executions of each agent run. */
  running: Record<string, number>;
  /** How many runs of each batch run. */
  open: Record<string, number>;
  correlations: Correlation[];
}

/** A correlation. `settled_at` is null while it is active. */
export interface Correlation {
  /** Its own id, because a batch has many. */
  id: string;
  request: string;
  state: string;
  generation: number;
  settled_at: number | null;
}

/** The answer to `configure`: the limits of concurrency, by agent, and that of each batch. */
export interface Configuration {
  agents: Record<string, number>;
  batch: number;
  batch_rows: number;
}

export interface Artifact {
  position: number;
  id: string;
  type: string;
  /** The id of the execution that published it; null if a client did. */
  execution: string | null;
  request: string;
  n: number | null;
}

/** The answer to `end`: the database when no work is left. */
export interface End {
  artifacts: Artifact[];
  correlations: Correlation[];
  runs: { id: string; request: string; status: string }[];
  batches: { id: string; request: string; status: string; succeeded: number; open: number }[];
}

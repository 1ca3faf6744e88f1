/** Every setting of the service, checked once at start. Durations are milliseconds, sizes bytes. */
export class Settings {
  host!: string;
  port!: number;
  /** Title of the API documentation. */
  serverName!: string;
  createUi!: boolean;
  dashboard!: boolean;
  webhookUrl!: string | null;
  /** The first signs for all, the second for receivers that do not know the first yet, or no longer. */
  webhookSecret!: string[];
  /** In ms after the first try. */
  webhookRetries!: number[];
  /** Which hosts clients may have webhooks sent to: any public one, none, or those of `clientWebhookHosts`. */
  clientWebhooks!: 'public' | 'off' | 'list';
  /** In lower case; `*.` before a name stands for everything below it. */
  clientWebhookHosts!: string[];
  /** On public addresses; those of `outboundAllow` are reached on any port. */
  clientWebhookPorts!: number[];
  /** That this process sends to one host in a minute. */
  clientWebhookBytesPerMinute!: number;
  /** 32 bytes in hexadecimal, which clients' secrets are stored under. */
  secretKey!: string | null;
  /** Absolute; null where no request may name a file of this machine. */
  csvRoot!: string | null;
  /** `sqlite:<path>` or `postgres://...`. */
  databaseUrl!: string;
  /** CIDR ranges that client-given URLs may reach besides public unicast addresses. */
  outboundAllow!: string[];
  allowedHosts!: string[];
  /** CIDR ranges of proxies whose `X-Forwarded-For` tells whose request it is. */
  trustedProxies!: string[];
  corsOrigins!: string[];
  /** Past this many waiting executions, a publish is refused with 503. */
  maxPendingExecutions!: number;
  /** Past this many artifacts in joins, in batch windows and before their release, a publish that would add one is refused with 503. */
  maxWaitingArrivals!: number;
  /** Past this many bytes that waiting rows of all batches will store, a batch is refused with 503. */
  maxWaitingBatchBytes!: number;
  /** The longest `ttl` of an `After` visibility. */
  maxTtlMs!: number;
  /** The same of those that wait for agents that no process has. */
  maxExecutionsWithoutAgent!: number;
  /** Streams of the changelog that may be open at once in this process. */
  maxStreams!: number;
  maxStreamsPerAddress!: number;
  /** How often one agent may run in one generation of a correlation. */
  maxExecutionsPerCorrelation!: number;
  /** Executions at once in this process. */
  maxConcurrentExecutions!: number;
  shutdownGraceMs!: number;
  leaseMs!: number;
  /** How long what has ended is kept at least; null keeps it for ever. */
  retainExecutionsMs!: number | null;
  retainRunsMs!: number | null;
  retainBatchesMs!: number | null;
  retainDeliveriesMs!: number | null;
  /** How long an idempotency key holds. */
  retainKeysMs!: number;
  bodyLimitBytes!: number;
  /** In which the body of a request has to arrive; an upload's has its own. */
  requestTimeoutMs!: number;
  uploadTimeoutMs!: number;
  /** In a second, on average. */
  minTransferRateBytes!: number;
  /** Of the temporary files of this process. */
  uploadSpaceBytes!: number;
  /** Connections to this process at once. */
  maxConnections!: number;
  /** Bytes of clients' data that this process may hold at the same time; null derives it from the heap limit. */
  memoryBudgetBytes!: number | null;
  /** Absolute paths of the files that configure this process. They may hold secrets, and no request may have them read. */
  configurationFiles!: string[];
  logLevel!: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

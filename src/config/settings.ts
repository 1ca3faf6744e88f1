import type { NamedFile } from './setting-types.js';

/** Every setting of the service, checked once at the start. Durations are in milliseconds, sizes in bytes. */
export class Settings {
  host!: string;
  port!: number;
  /** Title of the API documentation. */
  serverName!: string;
  createUi!: boolean;
  dashboard!: boolean;
  webhookUrl!: string | null;
  /** All deliveries are signed with each secret. There are two while receivers change from one to the other. */
  webhookSecret!: string[];
  /** Times of the retries, in ms after the first try. */
  webhookRetries!: number[];
  /** Hosts that clients' webhooks may go to: any public one, none, or those in `clientWebhookHosts`. */
  clientWebhooks!: 'public' | 'off' | 'list';
  /** In lower case. `*.` before a name stands for all its subdomains. */
  clientWebhookHosts!: string[];
  /** Ports on public addresses. Addresses in `outboundAllow` may be reached on any port. */
  clientWebhookPorts!: number[];
  /** Bytes that this process sends to one host per minute. */
  clientWebhookBytesPerMinute!: number;
  /** Key that encrypts clients' secrets: 32 bytes in hexadecimal. */
  secretKey!: string | null;
  /** The configurations that replays may name. */
  replayConfigs!: NamedFile[];
  /** Absolute path; null if requests may not name files of this machine. */
  csvRoot!: string | null;
  /** `sqlite:<path>` or `postgres://...`. */
  databaseUrl!: string;
  /** CIDR ranges that URLs from clients may reach in addition to public unicast addresses. */
  outboundAllow!: string[];
  allowedHosts!: string[];
  /** CIDR ranges of proxies whose `X-Forwarded-For` identifies the client. */
  trustedProxies!: string[];
  corsOrigins!: string[];
  /** Above this number of waiting executions, a publish is refused with 503. */
  maxPendingExecutions!: number;
  /**
   * Limit of artifacts in joins, in batch windows and before their release; above it, a publish that would add one is a
   * 503.
   */
  maxWaitingArrivals!: number;
  /** Limit of the bytes that waiting rows of all batches will store; above it, a batch is refused with 503. */
  maxWaitingBatchBytes!: number;
  /** The longest `ttl` of an `After` visibility. */
  maxTtlMs!: number;
  /** Like `maxPendingExecutions`, for executions that wait for agents that no process has. */
  maxExecutionsWithoutAgent!: number;
  /** Changelog streams that may be open at the same time in this process. */
  maxStreams!: number;
  maxStreamsPerAddress!: number;
  /** How often one agent may run in one generation of a correlation. */
  maxExecutionsPerCorrelation!: number;
  /** Executions that this process runs at the same time. */
  maxConcurrentExecutions!: number;
  shutdownGraceMs!: number;
  leaseMs!: number;
  /** The minimum time that ended executions, runs, batches and deliveries are kept; null keeps them forever. */
  retainExecutionsMs!: number | null;
  retainRunsMs!: number | null;
  retainBatchesMs!: number | null;
  retainDeliveriesMs!: number | null;
  /** How long an idempotency key is valid. */
  retainKeysMs!: number;
  bodyLimitBytes!: number;
  /** Time limit for the body of a request. Uploads have a separate one. */
  requestTimeoutMs!: number;
  uploadTimeoutMs!: number;
  /** Bytes per second, on average. */
  minTransferRateBytes!: number;
  /** Disk space for the temporary files of this process. */
  uploadSpaceBytes!: number;
  /** Connections that this process accepts at the same time. */
  maxConnections!: number;
  /** Bytes of clients' data that this process may hold at the same time; null derives the limit from the heap limit. */
  memoryBudgetBytes!: number | null;
  /** Absolute paths of the files that configure this process. They may contain secrets, so no request may read them. */
  configurationFiles!: string[];
  /** Whether failed executions keep and answer their causes and the frames of the agents' files. */
  errorStacks!: boolean;
  logLevel!: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

/** Whether to serve the web app. The contract has two names for it. */
export const hasDashboard = ({ createUi, dashboard }: Pick<Settings, 'createUi' | 'dashboard'>): boolean =>
  createUi || dashboard;

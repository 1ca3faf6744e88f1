import {
  cidrList,
  databaseUrl,
  host,
  hostList,
  httpUrl,
  originList,
  portList,
  webhookHostList,
} from './network-types.js';
import {
  boolean,
  duration,
  integer,
  namedFiles,
  oneOf,
  retryTimes,
  secretKey,
  type SettingType,
  size,
  text,
  webhookSecrets,
} from './setting-types.js';
import type { Settings } from './settings.js';

/** One setting. Its flag, its environment variable and its key in the file are derived from `name`. */
export interface Setting<T = unknown> {
  /** The key in the configuration file's `server:` section. */
  name: string;
  type: SettingType<NonNullable<T>>;
  /** The default in the form of a flag value; null if the setting may have no value. */
  default: string | null;
  /** Part of a sentence, for `--help` and docs/configuration.md. */
  description: string;
  /**
   * A secret is never shown in a message, even if it is invalid, and can also be read from a file. `whole`: there is no
   * flag for its value, because the process list would show it to every user of the machine. `part`: a URL that may
   * contain a password or a token.
   */
  secret?: 'whole' | 'part';
  /** An additional environment variable without the prefix. The one with the prefix has precedence. */
  plainVariable?: string;
}

const longest = { min: '1m', max: '3650d' };
const millions = { min: 1, max: 1_000_000_000 };

/** The part of `Settings` that an operator sets. */
type SettingKey = Exclude<keyof Settings, 'configurationFiles'>;

/**
 * Every setting, keyed as in `Settings`. Flags, environment, file, checks and documentation are all derived from it.
 */
export const SETTINGS: { readonly [K in SettingKey]-?: Setting<Settings[K]> } = {
  host: {
    name: 'host',
    type: host(),
    default: '127.0.0.1',
    description:
      'address to bind; 0.0.0.0 accepts connections from other machines (there is no authentication: put a proxy in front)',
    plainVariable: 'HOST',
  },
  port: {
    name: 'port',
    type: integer({ min: 0, max: 65_535 }),
    default: '8344',
    description: 'port to listen on; 0 picks a free one',
    plainVariable: 'PORT',
  },
  databaseUrl: {
    name: 'database_url',
    type: databaseUrl(),
    default: 'sqlite:data/starling.db',
    description: 'database that stores everything; a relative path starts at the working directory',
    // A Postgres URL may contain the password.
    secret: 'part',
    plainVariable: 'DATABASE_URL',
  },
  serverName: {
    name: 'server_name',
    type: text({ min: 1, max: 200 }),
    default: 'Starling',
    description: 'title of the API documentation',
  },
  dashboard: {
    name: 'dashboard',
    type: boolean(),
    default: 'false',
    description: 'also serve the web app at /dashboard',
  },
  createUi: { name: 'create_ui', type: boolean(), default: 'false', description: 'the same as `dashboard`' },
  webhookUrl: {
    name: 'webhook_url',
    type: httpUrl(),
    default: null,
    description: 'URL that receives a webhook for every artifact',
    // The path of a receiver often contains a token.
    secret: 'part',
  },
  webhookSecret: {
    name: 'webhook_secret',
    type: webhookSecrets(),
    default: '',
    description:
      'key that signs deliveries to `webhook_url`, 16 to 256 characters; give two while receivers change from one to the other',
    secret: 'whole',
  },
  webhookRetries: {
    name: 'webhook_retries',
    type: retryTimes(),
    default: '5s,30s,2m,10m,1h,6h',
    description:
      'times after the first try at which a failed delivery is tried again, with 20 % jitter; after the last one it is dead',
  },
  clientWebhooks: {
    name: 'client_webhooks',
    type: oneOf('public', 'off', 'list'),
    default: 'public',
    description:
      "targets of clients' webhooks: public addresses, none, or the hosts in `client_webhook_hosts`; `webhook_url` is not affected",
  },
  clientWebhookHosts: {
    name: 'client_webhook_hosts',
    type: webhookHostList(),
    default: '',
    description:
      'hosts for `client_webhooks: list`, such as `hooks.example.com`, or `*.example.com` for all subdomains',
  },
  clientWebhookPorts: {
    name: 'client_webhook_ports',
    type: portList(),
    default: '80,443,8443',
    description:
      "ports of clients' webhooks on public addresses; addresses in `outbound_allow` may be reached on any port",
  },
  clientWebhookBytesPerMinute: {
    name: 'client_webhook_bytes_per_minute',
    type: size({ min: '1KiB', max: '1024GiB' }),
    default: '10MiB',
    description: "bytes that one process sends to one host per minute for clients' webhooks; further deliveries wait",
  },
  secretKey: {
    name: 'secret_key',
    type: secretKey(),
    default: null,
    description:
      "key that encrypts clients' webhook secrets, made with `openssl rand -hex 32`; without it, SQLite keeps one in a file next to the database, and Postgres stores no secrets",
    secret: 'whole',
  },
  csvRoot: {
    name: 'csv_root',
    type: text({ min: 1, max: 4_096 }),
    default: null,
    description:
      'folder whose .csv, .tsv and .txt files a batch may name; without it a batch accepts only lists and uploads; a relative path starts at the working directory',
  },
  replayConfigs: {
    name: 'replay_config',
    type: namedFiles(),
    default: '',
    description:
      'further configuration files by names that replays and experiments may ask for, such as `candidate=candidate.yaml`; agents of the file have their engines and timeouts from it there; a relative path starts at the working directory',
  },
  outboundAllow: {
    name: 'outbound_allow',
    type: cidrList(),
    default: '',
    description: 'address ranges that URLs from clients may reach in addition to public addresses',
  },
  allowedHosts: {
    name: 'allowed_hosts',
    type: hostList(),
    default: '',
    description:
      'Host header values that are accepted besides loopback names; if it is set, checked on every address (except for `/health*` and `/metrics`); always checked on a loopback address',
  },
  trustedProxies: {
    name: 'trusted_proxies',
    type: cidrList(),
    default: '',
    description:
      'address ranges of proxies in front of this service; limits per address then use the client address in their `X-Forwarded-For`',
  },
  corsOrigins: {
    name: 'cors_origins',
    type: originList(),
    default: '',
    description: 'web origins whose pages may call this API',
  },
  maxPendingExecutions: {
    name: 'max_pending_executions',
    type: integer(millions),
    default: '100000',
    description: 'executions that may wait; above it, a publish is refused with 503',
  },
  maxWaitingArrivals: {
    name: 'max_waiting_arrivals',
    type: integer(millions),
    default: '1000000',
    description:
      'artifacts that may wait in joins, in batch windows and for their release, about 1 KB of the database each; above it, a publish that would add one is refused with 503',
  },
  maxWaitingBatchBytes: {
    name: 'max_waiting_batch_bytes',
    type: size({ min: '1MiB', max: '1024GiB' }),
    default: '4GiB',
    description:
      'bytes that the waiting rows of all batches may store when they become runs, with `static_inputs` in each; above it, a batch is refused with 503, or with 400 if it alone needs more',
  },
  maxTtlMs: {
    name: 'max_ttl',
    type: duration({ min: '1s', max: '3650d' }),
    default: '30d',
    description: 'longest `ttl` of an `After` visibility; above it, a publish is refused with 400',
  },
  maxExecutionsWithoutAgent: {
    name: 'max_executions_without_agent',
    type: integer(millions),
    default: '100000',
    description:
      'executions that may wait for agents that no process has, counted separately; above it, a publish is refused with 503',
  },
  maxExecutionsPerCorrelation: {
    name: 'max_executions_per_correlation',
    type: integer(millions),
    default: '1000',
    description: 'how often one agent may run in one generation of a correlation; this stops cycles',
  },
  maxConcurrentExecutions: {
    name: 'max_concurrent_executions',
    type: integer({ min: 1, max: 10_000 }),
    default: '64',
    description: 'executions that one process runs at the same time',
  },
  maxStreams: {
    name: 'max_streams',
    type: integer({ min: 1, max: 100_000 }),
    default: '2500',
    description:
      'changelog streams that may be open at the same time in one process; further ones are refused with 503',
  },
  maxStreamsPerAddress: {
    name: 'max_streams_per_address',
    type: integer({ min: 1, max: 100_000 }),
    default: '500',
    description:
      'the same for one address; clients behind a proxy share its address, unless `trusted_proxies` lists it',
  },
  shutdownGraceMs: {
    name: 'shutdown_grace',
    type: duration({ min: '0s', max: '1h' }),
    default: '30s',
    description: 'how long running executions may continue after SIGTERM before they are handed back',
  },
  leaseMs: {
    name: 'lease',
    type: duration({ min: '1s', max: '1h' }),
    default: '30s',
    description: 'how long a process that no longer responds keeps its executions',
  },
  retainExecutionsMs: {
    name: 'retain_executions',
    type: duration(longest),
    default: null,
    description: 'the minimum time that executions are kept after they end; without it, they are kept forever',
  },
  retainRunsMs: {
    name: 'retain_runs',
    type: duration(longest),
    default: null,
    description: 'the same for runs; their artifacts and executions are not deleted earlier',
  },
  retainBatchesMs: {
    name: 'retain_batches',
    type: duration(longest),
    default: null,
    description: 'the same for batches, including their rows and runs',
  },
  retainDeliveriesMs: {
    name: 'retain_deliveries',
    type: duration(longest),
    default: null,
    description: 'the same for webhook deliveries',
  },
  retainKeysMs: {
    name: 'retain_keys',
    type: duration({ min: '1m', max: '30d' }),
    default: '1d',
    description: 'how long an idempotency key is valid; data that it may refer to is not deleted earlier',
  },
  bodyLimitBytes: {
    name: 'body_limit',
    type: size({ min: '1KiB', max: '256MiB' }),
    default: '1MiB',
    description: 'largest request body, and largest payload of an agent',
  },
  requestTimeoutMs: {
    name: 'request_timeout',
    type: duration({ min: '1s', max: '1h' }),
    default: '60s',
    description: 'time limit for the body of a request to arrive; after it, the answer is 408',
  },
  uploadTimeoutMs: {
    name: 'upload_timeout',
    type: duration({ min: '1s', max: '1d' }),
    default: '1h',
    description: 'the same for an uploaded file',
  },
  minTransferRateBytes: {
    name: 'min_transfer_rate',
    type: size({ min: '1B', max: '1MiB' }),
    default: '1KiB',
    description:
      'minimum transfer rate per second; a body that is slower for 10 s is refused with 408, and a slower reader of an answer is disconnected',
  },
  uploadSpaceBytes: {
    name: 'upload_space',
    type: size({ min: '64MiB', max: '1024GiB' }),
    default: '2GiB',
    description:
      "disk space for one process's temporary files, which hold uploads and long batch lists until they are stored; above it, the answer is 503",
  },
  maxConnections: {
    name: 'max_connections',
    type: integer({ min: 1, max: 1_000_000 }),
    default: '5000',
    description: 'connections to one process at the same time; further ones are closed without an answer',
  },
  memoryBudgetBytes: {
    name: 'memory_budget',
    type: size({ min: '16MiB', max: '1024GiB' }),
    default: null,
    description:
      "memory for clients' bodies and answers in one process; above it, a request is refused with 503. Inputs of executions get half as much in addition, and wait for it. Without it, a quarter of V8's heap limit",
  },
  errorStacks: {
    name: 'error_stacks',
    type: boolean(),
    default: 'false',
    description:
      "whether failed executions have the causes of their errors and the places in the agents' files (`cause`, `stack`), which shows them to clients; on by default in `starling dev`",
  },
  logLevel: {
    name: 'log_level',
    type: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    description: 'lowest level that is logged',
  },
};

/** All settings, in the order of the table. */
export const settingEntries = Object.entries(SETTINGS) as [SettingKey, Setting][];

const PREFIX = 'STARLING_';

/** The client commands read it. It is not a setting of the server. */
export const SERVER_URL_VARIABLE = `${PREFIX}URL`;

/** A flag or an environment variable that sets a setting. */
export interface Source {
  /** The name, such as `--port` or `STARLING_PORT`. */
  name: string;
  /** Whether its value is the path of a file with the setting's value. */
  isFile: boolean;
}

export interface Flag extends Source {
  /** The name of the flag in an object of flags. */
  key: string;
}

/** The flag for the value, and for a secret also the flag for a file. At most one of them may be used. */
export function flagsOf({ name, secret }: Setting): Flag[] {
  const flag = (key: string, isFile: boolean): Flag => ({ name: `--${key.replaceAll('_', '-')}`, key, isFile });
  return secret === undefined ? [flag(name, false)] : [flag(name, false), flag(`${name}_file`, true)];
}

/** The flags that are allowed on a command line. A program that starts the service may also pass the others. */
export const commandFlagsOf = (setting: Setting): Flag[] =>
  flagsOf(setting).filter(({ isFile }) => isFile || setting.secret !== 'whole');

/** Environment variables in the order of precedence. At most one of each group may be set. */
export function variableGroupsOf({ name, plainVariable, secret }: Setting): Source[][] {
  const names = [PREFIX + name.toUpperCase(), plainVariable].filter((variable) => variable !== undefined);
  return names.map((variable) => [
    { name: variable, isFile: false },
    ...(secret === undefined ? [] : [{ name: `${variable}_FILE`, isFile: true }]),
  ]);
}

export const variablesOf = (setting: Setting): string[] =>
  variableGroupsOf(setting)
    .flat()
    .map(({ name }) => name);

/** The first flag, and the first variable. */
export const flagOf = (setting: Setting): string => commandFlagsOf(setting)[0]!.name;
export const variableOf = (setting: Setting): string => variablesOf(setting)[0]!;

export const isOurVariable = (variable: string): boolean => variable.startsWith(PREFIX);

import { boolean, duration, integer, oneOf, size, text, type SettingType } from './setting-types.js';
import { cidrList, databaseUrl, host, hostList, httpUrl, originList, portList, webhookHostList } from './network-types.js';
import { retryTimes } from './retry-times.js';
import { secretKey, webhookSecrets } from './secret-types.js';
import type { Settings } from './settings.js';

/** One setting. Its flag, its environment variable and its key in the file are all made from `name`. */
export interface Setting<T = unknown> {
  /** As in the configuration file's `server:` section. */
  name: string;
  type: SettingType<NonNullable<T>>;
  /** In the form that a flag takes; null where the setting may stay without a value. */
  default: string | null;
  /** Part of a sentence, for `--help` and the README. */
  description: string;
  /**
   * Never shown in a message, not even where it is wrong, and read from a file too. `whole`: it has no flag for its value, which the
   * process list would show to every user of the machine. `part`: a URL, which may hold a password or a token and often holds none.
   */
  secret?: 'whole' | 'part';
  /** Environment variable that is read too, after the one with the prefix. */
  plainVariable?: string;
}

const longest = { min: '1m', max: '3650d' };
const millions = { min: 1, max: 1_000_000_000 };

/** What of `Settings` is given by an operator. */
type SettingKey = Exclude<keyof Settings, 'configurationFiles'>;

/** Every setting, keyed as in `Settings`: the one place that flags, environment, file, check and documentation come from. */
export const SETTINGS: { readonly [K in SettingKey]-?: Setting<Settings[K]> } = {
  host: {
    name: 'host',
    type: host(),
    default: '127.0.0.1',
    description: 'address to bind; 0.0.0.0 to be reached from outside (there is no authentication: put a proxy before it)',
    plainVariable: 'HOST',
  },
  port: { name: 'port', type: integer({ min: 0, max: 65_535 }), default: '8344', description: 'port to listen on; 0 takes a free one', plainVariable: 'PORT' },
  databaseUrl: {
    name: 'database_url',
    type: databaseUrl(),
    default: 'sqlite:data/starling.db',
    description: 'where everything is stored; a relative path starts at the working directory',
    // A Postgres URL carries its password.
    secret: 'part',
    plainVariable: 'DATABASE_URL',
  },
  serverName: { name: 'server_name', type: text({ min: 1, max: 200 }), default: 'Starling', description: 'title of the API documentation' },
  dashboard: { name: 'dashboard', type: boolean(), default: 'false', description: 'serve the web app too (this build has none yet)' },
  createUi: { name: 'create_ui', type: boolean(), default: 'false', description: 'the same as `dashboard`' },
  webhookUrl: {
    name: 'webhook_url',
    type: httpUrl(),
    default: null,
    description: 'where every artifact is announced by a webhook',
    // Receivers often put a token into the path.
    secret: 'part',
  },
  webhookSecret: {
    name: 'webhook_secret',
    type: webhookSecrets(),
    default: '',
    description: 'key that signs deliveries to `webhook_url`, of 16 to 256 characters; two of them while receivers change from one to the other',
    secret: 'whole',
  },
  webhookRetries: {
    name: 'webhook_retries',
    type: retryTimes(),
    default: '5s,30s,2m,10m,1h,6h',
    description: 'when a delivery that failed is tried again, after its first try and give or take 20 %; then it is dead',
  },
  clientWebhooks: {
    name: 'client_webhooks',
    type: oneOf('public', 'off', 'list'),
    default: 'public',
    description: 'where clients may have webhooks sent to: public addresses, nowhere, or the hosts that `client_webhook_hosts` lists; the operator\'s `webhook_url` is not affected',
  },
  clientWebhookHosts: {
    name: 'client_webhook_hosts',
    type: webhookHostList(),
    default: '',
    description: 'the hosts of `client_webhooks: list`, such as `hooks.example.com`, or `*.example.com` for everything below it',
  },
  clientWebhookPorts: {
    name: 'client_webhook_ports',
    type: portList(),
    default: '80,443,8443',
    description: 'ports of public addresses that clients may have webhooks sent to; those of `outbound_allow` are reached on any port',
  },
  clientWebhookBytesPerMinute: {
    name: 'client_webhook_bytes_per_minute',
    type: size({ min: '1KiB', max: '1024GiB' }),
    default: '10MiB',
    description: "what one process sends to one host in a minute for clients' webhooks; deliveries past it wait",
  },
  secretKey: {
    name: 'secret_key',
    type: secretKey(),
    default: null,
    description: "key that clients' webhook secrets are stored under, as `openssl rand -hex 32` makes one; without it, SQLite keeps one in a file beside the database, and Postgres stores none",
    secret: 'whole',
  },
  csvRoot: {
    name: 'csv_root',
    type: text({ min: 1, max: 4_096 }),
    default: null,
    description: 'folder whose .csv, .tsv and .txt files a batch may name; without it a batch takes lists and uploads alone; a relative path starts at the working directory',
  },
  outboundAllow: {
    name: 'outbound_allow',
    type: cidrList(),
    default: '',
    description: 'address ranges that URLs given by clients may reach besides public addresses',
  },
  allowedHosts: {
    name: 'allowed_hosts',
    type: hostList(),
    default: '',
    description: 'values of the Host header that are served besides loopback ones; holds on every address where it is given (save `/health*` and `/metrics`), and while bound to loopback in any case',
  },
  trustedProxies: {
    name: 'trusted_proxies',
    type: cidrList(),
    default: '',
    description: 'address ranges of proxies before this service: limits for an address then count what their `X-Forwarded-For` names',
  },
  corsOrigins: { name: 'cors_origins', type: originList(), default: '', description: 'web origins whose pages may call this API' },
  maxPendingExecutions: {
    name: 'max_pending_executions',
    type: integer(millions),
    default: '100000',
    description: 'executions that may wait; past it a publish is refused with 503',
  },
  maxWaitingArrivals: {
    name: 'max_waiting_arrivals',
    type: integer(millions),
    default: '1000000',
    description: 'artifacts that may wait in joins, in batch windows and for their release, at about 1 KB of the database each; past it a publish that would add one is refused with 503',
  },
  maxWaitingBatchBytes: {
    name: 'max_waiting_batch_bytes',
    type: size({ min: '1MiB', max: '1024GiB' }),
    default: '4GiB',
    description: 'what the waiting rows of all batches may still store when they become runs, with `static_inputs` in each; past it a batch is refused with 503, and with 400 where it needs more alone',
  },
  maxTtlMs: {
    name: 'max_ttl',
    type: duration({ min: '1s', max: '3650d' }),
    default: '30d',
    description: 'longest `ttl` of a visibility `After`; past it a publish is refused with 400',
  },
  maxExecutionsWithoutAgent: {
    name: 'max_executions_without_agent',
    type: integer(millions),
    default: '100000',
    description: 'executions that may wait for agents that no process has, besides the others; past it a publish is refused with 503',
  },
  maxExecutionsPerCorrelation: {
    name: 'max_executions_per_correlation',
    type: integer(millions),
    default: '1000',
    description: 'how often one agent may run in one generation of a correlation, which stops a cycle',
  },
  maxConcurrentExecutions: {
    name: 'max_concurrent_executions',
    type: integer({ min: 1, max: 10_000 }),
    default: '64',
    description: 'executions at once in one process',
  },
  maxStreams: {
    name: 'max_streams',
    type: integer({ min: 1, max: 100_000 }),
    default: '2500',
    description: 'streams of the changelog that may be open at once in one process; past it one is refused with 503',
  },
  maxStreamsPerAddress: {
    name: 'max_streams_per_address',
    type: integer({ min: 1, max: 100_000 }),
    default: '500',
    description: 'the same from one address; behind a proxy all come from its own, unless `trusted_proxies` lists it',
  },
  shutdownGraceMs: {
    name: 'shutdown_grace',
    type: duration({ min: '0s', max: '1h' }),
    default: '30s',
    description: 'how long running executions may go on after SIGTERM before they are handed back',
  },
  leaseMs: {
    name: 'lease',
    type: duration({ min: '1s', max: '1h' }),
    default: '30s',
    description: 'how long a process that has gone silent keeps its executions',
  },
  retainExecutionsMs: {
    name: 'retain_executions',
    type: duration(longest),
    default: null,
    description: 'how long executions are kept after their end, at least; without it for ever',
  },
  retainRunsMs: {
    name: 'retain_runs',
    type: duration(longest),
    default: null,
    description: 'the same for runs, with whose artifacts and executions nothing happens before',
  },
  retainBatchesMs: { name: 'retain_batches', type: duration(longest), default: null, description: 'the same for batches, with their rows and runs' },
  retainDeliveriesMs: { name: 'retain_deliveries', type: duration(longest), default: null, description: 'the same for webhook deliveries' },
  retainKeysMs: {
    name: 'retain_keys',
    type: duration({ min: '1m', max: '30d' }),
    default: '1d',
    description: 'how long an idempotency key holds; nothing that it may name is deleted before',
  },
  bodyLimitBytes: { name: 'body_limit', type: size({ min: '1KiB', max: '256MiB' }), default: '1MiB', description: 'largest request body, and largest payload that an agent publishes' },
  requestTimeoutMs: {
    name: 'request_timeout',
    type: duration({ min: '1s', max: '1h' }),
    default: '60s',
    description: 'in which the body of a request has to arrive; past it 408',
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
    description: 'least rate of a transfer, in a second; a body that is slower for 10 s is refused with 408, the reader of an answer is disconnected',
  },
  uploadSpaceBytes: {
    name: 'upload_space',
    type: size({ min: '64MiB', max: '1024GiB' }),
    default: '2GiB',
    description: "disk for one process's temporary files, in which uploads and long lists of batches wait until they are stored; past it 503",
  },
  maxConnections: {
    name: 'max_connections',
    type: integer({ min: 1, max: 1_000_000 }),
    default: '5000',
    description: 'connections to one process at once; past it a new one is closed without an answer',
  },
  memoryBudgetBytes: {
    name: 'memory_budget',
    type: size({ min: '16MiB', max: '1024GiB' }),
    default: null,
    description: "memory for clients' data in one process: bodies and answers; past it a request is refused with 503; half as much besides for the inputs of executions, which wait; without it a quarter of V8's heap limit",
  },
  logLevel: {
    name: 'log_level',
    type: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
    description: 'least level that is logged',
  },
};

/** In the order of the table. */
export const settingEntries = Object.entries(SETTINGS) as [SettingKey, Setting][];

const PREFIX = 'STARLING_';

/** Read by the commands that talk to a server, and no setting of the server itself. */
export const SERVER_URL_VARIABLE = `${PREFIX}URL`;

/** A way to give a setting, on the command line or in the environment. */
export interface Source {
  /** As its author writes it. */
  name: string;
  /** Whether it names a file that holds the value. */
  isFile: boolean;
}

export interface Flag extends Source {
  /** What it is called where flags come as an object. */
  key: string;
}

/** The value itself, and for a secret also a file with it; at most one of them is given. */
export function flagsOf({ name, secret }: Setting): Flag[] {
  const flag = (key: string, isFile: boolean): Flag => ({ name: `--${key.replaceAll('_', '-')}`, key, isFile });
  return secret === undefined ? [flag(name, false)] : [flag(name, false), flag(`${name}_file`, true)];
}

/** Those that a command line may have; a program that starts the service may hand over the others too. */
export const commandFlagsOf = (setting: Setting): Flag[] => flagsOf(setting).filter(({ isFile }) => isFile || setting.secret !== 'whole');

/** In the order of precedence; at most one of each group is given. */
export function variableGroupsOf({ name, plainVariable, secret }: Setting): Source[][] {
  const names = [PREFIX + name.toUpperCase(), plainVariable].filter((variable) => variable !== undefined);
  return names.map((variable) => [{ name: variable, isFile: false }, ...(secret === undefined ? [] : [{ name: `${variable}_FILE`, isFile: true }])]);
}

export const variablesOf = (setting: Setting): string[] => variableGroupsOf(setting).flat().map(({ name }) => name);

/** The first one of each type. */
export const flagOf = (setting: Setting): string => commandFlagsOf(setting)[0]!.name;
export const variableOf = (setting: Setting): string => variablesOf(setting)[0]!;

export const isOurVariable = (variable: string): boolean => variable.startsWith(PREFIX);

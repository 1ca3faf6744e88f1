import { resolve } from 'node:path';

import { resolveSettings, SettingsError, type SettingsSources } from '../../src/config/resolve-settings.js';
import { Settings } from '../../src/config/settings.js';
import { settingEntries, SETTINGS, variableOf } from '../../src/config/settings-table.js';

const from = (sources: Partial<SettingsSources>): Settings =>
  resolveSettings({ flags: {}, environment: {}, server: undefined, ...sources });

function problemsOf(sources: Partial<SettingsSources>): readonly string[] {
  try {
    from(sources);
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n');
    throw error;
  }
  throw new Error('the settings were accepted');
}

describe('the defaults', () => {
  test('serve on loopback from an SQLite file without configuration', () => {
    expect(from({})).toEqual({
      host: '127.0.0.1',
      port: 8344,
      databaseUrl: 'sqlite:data/starling.db',
      serverName: 'Starling',
      dashboard: false,
      createUi: false,
      webhookUrl: null,
      webhookSecret: [],
      webhookRetries: [5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000],
      clientWebhooks: 'public',
      clientWebhookHosts: [],
      clientWebhookPorts: [80, 443, 8_443],
      clientWebhookBytesPerMinute: 10_485_760,
      secretKey: null,
      csvRoot: null,
      replayConfigs: [],
      outboundAllow: [],
      allowedHosts: [],
      trustedProxies: [],
      corsOrigins: [],
      maxPendingExecutions: 100_000,
      maxWaitingArrivals: 1_000_000,
      maxWaitingBatchBytes: 4_294_967_296,
      maxTtlMs: 2_592_000_000,
      maxExecutionsWithoutAgent: 100_000,
      maxStreams: 2_500,
      maxStreamsPerAddress: 500,
      maxExecutionsPerCorrelation: 1_000,
      maxConcurrentExecutions: 64,
      shutdownGraceMs: 30_000,
      leaseMs: 30_000,
      retainExecutionsMs: null,
      retainRunsMs: null,
      retainBatchesMs: null,
      retainDeliveriesMs: null,
      retainKeysMs: 86_400_000,
      bodyLimitBytes: 1_048_576,
      requestTimeoutMs: 60_000,
      uploadTimeoutMs: 3_600_000,
      minTransferRateBytes: 1_024,
      uploadSpaceBytes: 2_147_483_648,
      maxConnections: 5_000,
      memoryBudgetBytes: null,
      errorStacks: false,
      logLevel: 'info',
      configurationFiles: [],
    });
  });

  test('are injectable settings', () => expect(from({})).toBeInstanceOf(Settings));
});

describe('precedence', () => {
  const flags = { port: '1' };
  const environment = { STARLING_PORT: '2', PORT: '3' };
  const server = { port: 4 };

  test.each([
    ['a flag wins over all others', { flags, environment, server }, 1],
    ['the prefixed variable wins over the plain one and the file', { environment, server }, 2],
    ['the plain variable wins over the file', { environment: { PORT: '3' }, server }, 3],
    ['the file wins over the default', { server }, 4],
    ['an empty variable counts as not set', { environment: { STARLING_PORT: '', PORT: '' }, server }, 4],
  ])('%s', (_, sources, port) => expect(from(sources).port).toBe(port));

  test('DATABASE_URL, HOST and PORT are read without the prefix, other names are not', () => {
    const settings = from({
      environment: { DATABASE_URL: 'sqlite:a.db', HOST: '::1', PORT: '80', SERVER_NAME: 'other', LEASE: 'x' },
    });
    expect(settings).toMatchObject({
      databaseUrl: 'sqlite:a.db',
      host: '::1',
      port: 80,
      serverName: 'Starling',
      leaseMs: 30_000,
    });
  });

  test('an empty list as a flag empties the list of the file', () => {
    expect(from({ flags: { cors_origins: '' }, server: { cors_origins: ['https://a.example'] } }).corsOrigins).toEqual(
      [],
    );
  });
});

describe('values', () => {
  test.each<[keyof typeof SETTINGS, unknown, unknown]>([
    ['port', '0', 0],
    ['dashboard', 'true', true],
    ['dashboard', true, true],
    ['createUi', '0', false],
    ['shutdownGraceMs', '0s', 0],
    ['leaseMs', '1.5s', 1_500],
    ['leaseMs', '2m', 120_000],
    ['bodyLimitBytes', '2MiB', 2_097_152],
    ['bodyLimitBytes', '4096', 4_096],
    ['bodyLimitBytes', 4_096, 4_096],
    ['outboundAllow', '10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['outboundAllow', ['10.0.0.0/8'], ['10.0.0.0/8']],
    ['allowedHosts', ['Desk.Example.com', '10.1.2.3:80', '[::1]:80'], ['desk.example.com', '10.1.2.3:80', '[::1]:80']],
    ['corsOrigins', 'https://A.example,http://b.example:8080', ['https://a.example', 'http://b.example:8080']],
    ['databaseUrl', 'postgres://me:secret@db/starling', 'postgres://me:secret@db/starling'],
    ['csvRoot', 'rows', resolve('rows')],
    [
      'replayConfigs',
      'candidate=a=b.yaml, other.2=c.yaml',
      [
        { name: 'candidate', file: 'a=b.yaml' },
        { name: 'other.2', file: 'c.yaml' },
      ],
    ],
    ['replayConfigs', ['candidate=a.yaml'], [{ name: 'candidate', file: 'a.yaml' }]],
    ['clientWebhookPorts', '443, 9000', [443, 9_000]],
    ['clientWebhookPorts', [443], [443]],
    ['clientWebhookPorts', [], []],
    ['logLevel', 'debug', 'debug'],
  ])('%s reads %j as %j', (key, given, expected) => {
    const { name } = SETTINGS[key];
    expect(from({ server: { [name]: given } })[key]).toEqual(expected);
    if (typeof given === 'string') {
      expect(from({ flags: { [name]: given } })[key]).toEqual(expected);
      expect(from({ environment: { [variableOf(SETTINGS[key])]: given } })[key]).toEqual(expected);
    }
  });
});

describe('a wrong value', () => {
  test.each([
    ['port', 'abc', 'must be an integer from 0 to 65535 (got "abc")'],
    ['port', '65536', 'must be an integer from 0 to 65535 (got "65536")'],
    ['port', '-1', 'must be an integer from 0 to 65535 (got "-1")'],
    ['port', '80.5', 'must be an integer from 0 to 65535 (got "80.5")'],
    ['host', 'a b', 'must be a host name or an IP address, without a port (got "a b")'],
    ['host', 'localhost:80', 'must be a host name or an IP address, without a port (got "localhost:80")'],
    ['dashboard', 'maybe', 'must be true or false (got "maybe")'],
    ['lease', '30', 'must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "30")'],
    ['lease', '2d', 'must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "2d")'],
    ['body_limit', '1MB', 'must be a size from 1KiB to 256MiB, such as 512KiB, 1MiB or a number of bytes (got "1MB")'],
    [
      'body_limit',
      '1GiB',
      'must be a size from 1KiB to 256MiB, such as 512KiB, 1MiB or a number of bytes (got "1GiB")',
    ],
    [
      'outbound_allow',
      '10.0.0.0/8,10.0.0.0/33',
      'must be address ranges such as 10.0.0.0/8 or fd00::/8 (got "10.0.0.0/33")',
    ],
    [
      'allowed_hosts',
      'https://a.example',
      'must be host names or addresses, with or without a port, such as desk.example.com (got "https://a.example")',
    ],
    [
      'cors_origins',
      'a.example',
      'must be origins such as https://app.example.com, without a path or a default port (got "a.example")',
    ],
    ['log_level', 'loud', 'must be one of trace, debug, info, warn, error, fatal, silent (got "loud")'],
    ['max_pending_executions', '0', 'must be an integer from 1 to 1000000000 (got "0")'],
    ['database_url', 'mysql://db', 'must be sqlite:<path of a file> or postgres://<user>@<host>/<database>'],
    ['webhook_url', 'ftp://x', 'must be a URL that begins with http:// or https://'],
    [
      'webhook_retries',
      '5s,5s',
      'must be at most 20 durations from 100ms to 7d, each longer than the one before, such as 5s,30s,2m (got "5s,5s")',
    ],
    [
      'webhook_retries',
      '5s,8d',
      'must be at most 20 durations from 100ms to 7d, each longer than the one before, such as 5s,30s,2m (got "8d")',
    ],
    ['client_webhooks', 'none', 'must be one of public, off, list (got "none")'],
    [
      'client_webhook_hosts',
      'hooks.example:443',
      'must be host names or addresses without a port, such as hooks.example.com or *.example.com (got "hooks.example:443")',
    ],
    [
      'client_webhook_hosts',
      'a.*.example',
      'must be host names or addresses without a port, such as hooks.example.com or *.example.com (got "a.*.example")',
    ],
    ['client_webhook_ports', '443,0', 'must be ports such as 80, 443 (got "0")'],
    [
      'webhook_secret',
      'short',
      'must be a text of 16 to 256 characters, in base64 if it begins with whsec_, or two of them',
    ],
  ])('of %s (%s) is reported in one line that names the source', (name, given, message) => {
    const flag = `--${name.replaceAll('_', '-')}`;
    const variable = `STARLING_${name.toUpperCase()}`;
    expect(problemsOf({ flags: { [name]: given } })).toEqual([`${flag}: ${message}`]);
    expect(problemsOf({ environment: { [variable]: given } })).toEqual([`${variable}: ${message}`]);
    expect(problemsOf({ server: { [name]: given } })).toEqual([`server.${name}: ${message}`]);
  });

  test('is reported with all others, even in sources that another one overrides', () => {
    const problems = problemsOf({
      flags: { port: '1', lease: 'x' },
      environment: { PORT: 'abc', STARLING_LOG_LEVEL: 'loud', STARLING_PROT: '1', OTHER: 'x' },
      server: { port: true, hots: 'a', allowed_hosts: [1] },
    });
    expect(problems).toEqual([
      'STARLING_PROT: there is no such setting; did you mean STARLING_PORT?',
      'server.hots: there is no such setting; did you mean server.host?',
      'PORT: must be an integer from 0 to 65535 (got "abc")',
      'server.port: must be an integer from 0 to 65535 (got true)',
      'server.allowed_hosts: must be host names or addresses, with or without a port, such as desk.example.com (got 1)',
      '--lease: must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "x")',
      'STARLING_LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent (got "loud")',
    ]);
  });

  test.each([
    [{ client_webhooks: 'list' }, 'client_webhook_hosts: must name at least one host if client_webhooks is list'],
    [
      { client_webhook_hosts: ['hooks.example'] },
      'client_webhooks: must be list if client_webhook_hosts is set (got "public")',
    ],
  ])('is a setting without effect beside another: %j', (server, problem) =>
    expect(problemsOf({ server })).toEqual([problem]),
  );

  test('does not include client_webhook_hosts while client webhooks are off', () => {
    expect(
      from({
        server: {
          client_webhooks: 'off',
          client_webhook_hosts: ['Hooks.example', '*.Partner.example', '[0:0::1]', '127.1'],
        },
      }).clientWebhookHosts,
    ).toEqual(['hooks.example', '*.partner.example', '[::1]', '127.0.0.1']);
  });

  test('that is long is shown shortened', () => {
    expect(problemsOf({ flags: { log_level: 'x'.repeat(10_000) } })[0]!.length).toBeLessThan(250);
  });

  test('of a secret setting is never shown', () => {
    const secret = 'hunter2';
    for (const [, setting] of settingEntries.filter(([, { secret }]) => secret)) {
      expect(problemsOf({ flags: { [setting.name]: secret } }).join()).not.toContain(secret);
    }
  });

  test('a section that is not an object is one error', () => {
    expect(problemsOf({ server: ['port'] })).toEqual(['server: must be an object (got ["port"])']);
  });
});

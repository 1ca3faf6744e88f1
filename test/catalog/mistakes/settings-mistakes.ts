import { type Mistake, withAgent } from './mistake.js';

/** Settings in the configuration file. */
export const SETTINGS_MISTAKES: Mistake[] = [
  [
    'an unknown setting',
    'server: { prot: 80 }\n',
    'error line 1, column 11: server.prot: is not a known key; did you mean port?',
  ],
  [
    'a port that is no number',
    'server:\n  port: eighty\n',
    'error line 2, column 3: server.port: must be an integer from 0 to 65535',
  ],
  [
    'a port out of range',
    'server: { port: 80000 }\n',
    'error line 1, column 11: server.port: must be an integer from 0 to 65535',
  ],
  [
    'a setting that is on or off',
    'server: { dashboard: yes }\n',
    'error line 1, column 11: server.dashboard: must be true or false',
  ],
  [
    'a duration out of range',
    'server:\n  port: 80\n  lease: 2d\n',
    'error line 3, column 3: server.lease: must be a duration from 1s to 1h, such as 500ms, 30s or 5m (got "2d")',
  ],
  [
    'a duration without a unit',
    'server: { lease: 30 }\n',
    'error line 1, column 11: server.lease: must be a duration from 1s to 1h, such as 500ms, 30s or 5m',
  ],
  [
    'a size in another notation',
    'server: { body_limit: 1 megabyte }\n',
    'error line 1, column 11: server.body_limit: must be a size from 1KiB to 256MiB, such as 512KiB, 1MiB or a number of bytes',
  ],
  [
    'an unknown level',
    'server: { log_level: verbose }\n',
    'error line 1, column 11: server.log_level: must be one of "trace", "debug", "info", "warn", "error", "fatal", "silent"',
  ],
  [
    'an address range that is none',
    'server: { outbound_allow: [10.0.0.0/33] }\n',
    'error line 1, column 11: server.outbound_allow: must be address ranges such as 10.0.0.0/8 or fd00::/8 (got "10.0.0.0/33")',
  ],
  [
    'a list of hosts without its switch',
    'server: { client_webhooks: list }\n',
    'error line 1, column 11: client_webhook_hosts: must name at least one host if client_webhooks is list',
  ],
  [
    'a release later than max_ttl',
    'server: { max_ttl: 12h }\n' +
      withAgent('', { publishes: '[{ type: Reply, visibility: { kind: After, ttl: 13h } }]' }),
    'error line 5, column 59: agents.a.publishes[0].visibility.ttl: must be at most 12h (max_ttl)',
  ],
  [
    'settings that are a list',
    'server: [port]\n',
    'error line 1, column 1: server: must be an object such as { port: 8344 }',
  ],
];

// Uses files on disk, named as an operator names them.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { resolveSettings, SettingsError, type SettingsSources } from '../../src/config/resolve-settings.js';
import type { Settings } from '../../src/config/settings.js';

const folder = mkdtempSync(join(tmpdir(), 'starling-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = 'a secret of the webhooks';
const KEY = '0f'.repeat(32);

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

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

describe('a secret in a file', () => {
  test.each([
    ['with nothing after it', SECRET],
    ['with a line break after it', `${SECRET}\n`],
    ['with a line break of Windows after it', `${SECRET}\r\n`],
  ])('is read %s', (_what, content) => {
    const path = file('secret', content);
    expect(from({ flags: { webhook_secret_file: path } }).webhookSecret).toEqual([SECRET]);
    expect(from({ environment: { STARLING_WEBHOOK_SECRET_FILE: path } }).webhookSecret).toEqual([SECRET]);
  });

  test('is accepted for each secret setting', () => {
    const settings = from({
      environment: {
        STARLING_SECRET_KEY_FILE: file('key', KEY),
        DATABASE_URL_FILE: file('url', 'postgres://me:hunter2@db/starling'),
        STARLING_WEBHOOK_URL_FILE: file('hook', 'https://hooks.example.com/token'),
      },
    });
    expect(settings).toMatchObject({
      secretKey: KEY,
      databaseUrl: 'postgres://me:hunter2@db/starling',
      webhookUrl: 'https://hooks.example.com/token',
    });
  });

  test('replaces its flag and its variable: the flag before the variables, the one with the prefix before the other, and these before the file', () => {
    const flag = file('flag', 'sqlite:flag.db');
    const variable = file('variable', 'sqlite:variable.db');
    const plain = file('plain', 'sqlite:plain.db');
    const server = { database_url: 'sqlite:server.db' };
    const environment = { STARLING_DATABASE_URL_FILE: variable, DATABASE_URL_FILE: plain };
    expect(from({ flags: { database_url_file: flag }, environment, server }).databaseUrl).toBe('sqlite:flag.db');
    expect(from({ environment, server }).databaseUrl).toBe('sqlite:variable.db');
    expect(from({ environment: { ...environment, STARLING_DATABASE_URL_FILE: '' }, server }).databaseUrl).toBe(
      'sqlite:plain.db',
    );
    expect(
      from({ environment: { STARLING_DATABASE_URL: 'sqlite:value.db', DATABASE_URL_FILE: plain }, server }).databaseUrl,
    ).toBe('sqlite:value.db');
  });

  test.each<[what: string, sources: Partial<SettingsSources>, names: string]>([
    [
      'as a variable and in a file',
      { environment: { STARLING_WEBHOOK_SECRET: SECRET, STARLING_WEBHOOK_SECRET_FILE: '/nowhere' } },
      'STARLING_WEBHOOK_SECRET and STARLING_WEBHOOK_SECRET_FILE',
    ],
    [
      'as a plain variable and in a file',
      { environment: { DATABASE_URL: 'sqlite:a.db', DATABASE_URL_FILE: '/nowhere' } },
      'DATABASE_URL and DATABASE_URL_FILE',
    ],
    [
      'as a flag and in a file',
      { flags: { database_url: 'sqlite:a.db', database_url_file: '/nowhere' } },
      '--database-url and --database-url-file',
    ],
  ])('given %s is an error', (_what, sources, names) => {
    expect(problemsOf(sources)).toEqual([`${names}: only one of them may be given`]);
  });

  test.each<[what: string, path: () => string, problem: string]>([
    ['is missing', () => join(folder, 'missing'), 'there is no such file'],
    [
      'is a folder',
      () => (mkdirSync(join(folder, 'folder')), join(folder, 'folder')),
      'it is a folder; name a file that contains only the value',
    ],
    ['is empty', () => file('empty', ''), 'it is empty; write the value into it'],
    ['has only a line break', () => file('blank', '\n'), 'it is empty; write the value into it'],
    [
      'is large',
      () => file('large', 'hunter2'.repeat(10_000)),
      'it is larger than 64 KiB; name a file that contains only the value',
    ],
    ['never ends', () => '/dev/zero', 'it is larger than 64 KiB; name a file that contains only the value'],
    [
      'has other content',
      () => file('wrong', 'hunter2\n'),
      'must be 64 hexadecimal digits, for example from openssl rand -hex 32',
    ],
    [
      'has more than the secret',
      () => file('more', `${KEY}\nhunter2\n`),
      'must be 64 hexadecimal digits, for example from openssl rand -hex 32',
    ],
  ])('that %s is reported by its name, without its content', (_what, path, problem) => {
    const named = path();
    expect(problemsOf({ flags: { secret_key_file: named } })).toEqual([`--secret-key-file ${named}: ${problem}`]);
  });

  // Root reads every file.
  (process.getuid?.() === 0 ? test.skip : test)('that may not be read is reported by its name', () => {
    const path = file('closed', KEY);
    chmodSync(path, 0);
    expect(problemsOf({ flags: { secret_key_file: path } })).toEqual([
      `--secret-key-file ${path}: this process has no permission to read it`,
    ]);
  });

  test('is a file that no request may read', () => {
    const path = file('secret', SECRET);
    expect(
      from({ flags: { webhook_secret_file: path }, file: join(folder, 'starling.yaml') }).configurationFiles,
    ).toEqual([join(folder, 'starling.yaml'), path]);
  });

  test('exists only for secrets', () => {
    expect(problemsOf({ environment: { STARLING_SERVER_NAME_FILE: '/nowhere' } })).toEqual([
      'STARLING_SERVER_NAME_FILE: there is no such setting; did you mean STARLING_SERVER_NAME?',
    ]);
  });
});

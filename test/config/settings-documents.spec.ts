import { readFileSync, writeFileSync } from 'node:fs';

import { Ajv } from 'ajv';

import { serverSettingsSchema, settingsMarkdown } from '../../src/config/settings-documents.js';
import { flagOf, settingEntries, variableOf } from '../../src/config/settings-table.js';

const check = new Ajv({ strict: true, strictTypes: false })
  .addVocabulary(['errorMessage'])
  .compile(serverSettingsSchema);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

describe('the JSON Schema of the server section', () => {
  test('names every setting and nothing else', () => {
    expect(Object.keys(serverSettingsSchema.properties as object)).toEqual(settingEntries.map(([, { name }]) => name));
    expect(check({ prot: 1 })).toBe(false);
  });

  test.each([
    { port: 8344, host: '0.0.0.0', dashboard: true, server_name: 'Support desk' },
    { shutdown_grace: '30s', lease: '1m', body_limit: '2MiB', log_level: 'warn' },
    {
      body_limit: 4096,
      outbound_allow: ['10.0.0.0/8'],
      allowed_hosts: ['desk.example.com'],
      cors_origins: ['https://a.example'],
    },
    { webhook_secret: 'a'.repeat(16), secret_key: '0f'.repeat(32) },
    { webhook_secret: ['a'.repeat(16), 'b'.repeat(16)] },
    { webhook_retries: ['1s', '1m'] },
    { cors_origins: 'https://a.example,https://b.example', database_url: 'sqlite:data/x.db', host: '::1' },
  ])('accepts what the start accepts: %j', (server) => expect(check(server)).toBe(true));

  test.each([
    { port: 'abc' },
    { port: 70_000 },
    { dashboard: 'yes' },
    { lease: 30 },
    { log_level: 'loud' },
    { allowed_hosts: ['a b'] },
    { body_limit: 1 },
    { webhook_secret: 'short' },
    { webhook_secret: ['a'.repeat(16), 'b'.repeat(16), 'c'.repeat(16)] },
    { secret_key: 'secret' },
    { webhook_retries: ['soon'] },
  ])('refuses %j', (server) => expect(check(server)).toBe(false));

  test.each(settingEntries.flatMap(([, { name, default: preset }]) => (preset === null ? [] : [[name, preset]])))(
    'accepts the default of %s (%s)',
    (name, preset) => expect([preset, parsed(preset)].some((value) => check({ [name]: value }))).toBe(true),
  );
});

describe('the table of settings', () => {
  test('has one row per setting, with its flag, its variable and its default', () => {
    const rows = settingsMarkdown().split('\n').slice(2);
    expect(rows).toHaveLength(settingEntries.length);
    settingEntries.forEach(([, setting], position) => {
      for (const part of [`\`${setting.name}\``, `\`${flagOf(setting)}\``, `\`${variableOf(setting)}\``])
        expect(rows[position]).toContain(part);
    });
  });

  const page = new URL('../../docs/configuration.md', import.meta.url);
  test('equals the table in docs/configuration.md', () => {
    const text = readFileSync(page, 'utf8');
    const stands = /^\| key under `server:`.*?(?=\n\n)/ms;
    if (process.env.UPDATE_SCHEMA) writeFileSync(page, text.replace(stands, settingsMarkdown));
    expect(stands.exec(readFileSync(page, 'utf8'))?.[0]).toBe(settingsMarkdown());
  });
});

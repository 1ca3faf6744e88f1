import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { StoredSecrets } from '../../src/features/webhooks/stored-secrets.js';
import { WebhookTargetsRepository } from '../../src/features/webhooks/webhook-targets.repository.js';
import { startApp, type TestApp } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { SERVER } from './replica-boards.js';

const CONFIG = 'types: { Order: {} }\n';
const KEY = '0f'.repeat(32);
const OTHER_KEY = 'f0'.repeat(32);
const SECRETS = ['a secret that is never shown', 'whsec_plJ3nmyCDGBKInavdOK15jsl', 'another one that is never shown'];

// Uses real databases, and reads them as a thief would; nothing is delivered.
describe('secrets of webhooks', () => {
  const folders: ConfigurationFolder[] = [];
  const apps: TestApp[] = [];

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    for (const folder of folders.splice(0)) {
      await (await databaseOf(folder.path)).drop();
      folder.remove();
    }
  });

  function newFolder(): string {
    const folder = new ConfigurationFolder();
    folders.push(folder);
    return folder.path;
  }

  async function start(folder: string, secretKey: string | null, settings: object = {}): Promise<TestApp> {
    const app = await startApp({ config: CONFIG, folder, role: SERVER, settings: { secretKey, ...settings } });
    apps.push(app);
    return app;
  }

  async function stop(): Promise<void> {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  }

  const publish = (app: TestApp, webhook: object) =>
    app.http.post('/api/v1/artifacts').send({ type: 'Order', payload: { mark: 'the payload' }, webhook });

  /** Returns the secrets that sign the deliveries to the one stored target. */
  async function secretsOf(app: TestApp): Promise<readonly string[]> {
    const [row] = await app.database.rows<{ id: string }>('select id from webhook_targets');
    const target = await app.app
      .get(WebhookTargetsRepository, { strict: false })
      .find(app.app.get(UnitOfWork, { strict: false }).reader, row!.id);
    return app.app.get(StoredSecrets, { strict: false }).of(target!);
  }

  it('are in no answer, no line of the log, and nowhere in the database', async () => {
    const folder = newFolder();
    const app = await start(folder, KEY, {
      logLevel: 'trace',
      webhookUrl: 'https://hooks.example.com/path-token',
      webhookSecret: [SECRETS[2]],
    });
    const answers: string[] = [];
    const note = (response: { headers: object; text: string }): number =>
      answers.push(JSON.stringify(response.headers), response.text);
    for (const secret of SECRETS.slice(0, 2)) {
      const webhook = { url: 'https://hooks.example.com/path-token', secret };
      const published = await publish(app, webhook).set('X-Idempotency-Key', `key-${secret.length}`).expect(200);
      note(published);
      note(await app.http.post('/api/v1/artifacts/sync').send({ type: 'Order', webhook, timeout: 1 }));
      note(await app.http.post('/api/v1/artifacts').send({ type: 'Unknown', webhook }).expect(400));
      note(
        await app.http
          .post('/api/v1/artifacts')
          .send({ type: 'Order', webhook: { ...webhook, url: 'http://127.0.0.1/path-token' } })
          .expect(400),
      );
      note(await publish(app, { ...webhook, secret: `whsec_${secret}` }).expect(400));
      note(await publish(app, { ...webhook, secret: { secret } }).expect(400));
      note(await app.http.get(`/api/v1/correlations/${published.headers['x-correlation-id'] as string}/status`));
    }
    const list = await app.http.get('/api/v1/webhooks/deliveries').expect(200);
    note(list);
    const { items } = list.body as { items: { delivery_id: string }[] };
    expect(items).toHaveLength(8);
    for (const { delivery_id } of items) note(await app.http.get(`/api/v1/webhooks/deliveries/${delivery_id}`));
    note(await app.http.get('/metrics'));

    const stored = await everythingStored(app);
    expect(stored).toContain('the payload');
    for (const secret of [...SECRETS, SECRETS[1]!.slice('whsec_'.length), KEY]) {
      for (const text of [
        secret,
        Buffer.from(secret).toString('hex'),
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      ]) {
        expect(answers.join('\n')).not.toContain(text);
        expect(JSON.stringify(app.logLines)).not.toContain(text);
        expect(stored).not.toContain(text);
      }
    }
    // Receivers put tokens into their paths.
    expect(answers.join('\n')).not.toContain('path-token');
    expect(JSON.stringify(app.logLines)).not.toContain('path-token');
  });

  it('can be read again with their key after a restart, and with no other', async () => {
    const folder = newFolder();
    await publish(await start(folder, KEY), { url: 'https://hooks.example.com/', secret: SECRETS[0] }).expect(200);
    await stop();
    expect(await secretsOf(await start(folder, KEY))).toEqual([SECRETS[0]]);
    await stop();

    const app = await start(folder, OTHER_KEY);
    expect(app.logLines).toContainEqual(
      expect.objectContaining({
        level: 50,
        targets: 1,
        msg: expect.stringMatching(/^secret_key: webhook secrets were stored with another key/),
      }),
    );
    await expect(secretsOf(app)).rejects.toThrow(
      'the secret was stored with another secret_key; start with that key again, or have the client send the secret again',
    );
    // With another secret, it is another target.
    await publish(app, { url: 'https://hooks.example.com/', secret: SECRETS[0] }).expect(200);
    expect(await app.database.rows('select id from webhook_targets')).toHaveLength(2);
  });

  it('are refused if they were changed, or belong to another target', async () => {
    const app = await start(newFolder(), KEY);
    const secrets = app.app.get(StoredSecrets, { strict: false });
    const { sealed } = secrets.store({ id: 'one', url: 'https://one.example/', secrets: [SECRETS[0]!] });
    expect(secrets.of({ id: 'one', by: 'client', secrets: sealed })).toEqual([SECRETS[0]]);
    const last = sealed.at(-2) === 'A' ? 'B' : 'A';
    for (const [id, changed] of [
      ['two', sealed],
      ['one', `${sealed.slice(0, -2)}${last}${sealed.at(-1)}`],
      ['one', sealed.slice(0, 30)],
    ] as const) {
      expect(() => secrets.of({ id, by: 'client', secrets: changed })).toThrow(
        'the stored secret is damaged; have the client send it again',
      );
    }
  });

  describe('of requests with an idempotency key', () => {
    const TARGET = 'https://hooks.example.com/';
    const keyed = (app: TestApp, secret: string, key = 'order-1') =>
      publish(app, { url: TARGET, secret }).set('X-Idempotency-Key', key).expect(200);
    /** Returns the hash of a guess without a key, as it was stored before keys were added. */
    const guess = (secret: string): string =>
      createHash('sha256')
        .update(`{"payload":{"mark":"the payload"},"type":"Order","webhook":{"secret":"${secret}","url":"${TARGET}"}}`)
        .digest('base64url');
    const isReplayed = (response: { headers: object }) =>
      expect(response.headers).toHaveProperty('x-idempotency-replayed', 'true');

    async function expectSame(app: TestApp, secret: string): Promise<void> {
      const same = await keyed(app, secret);
      isReplayed(same);
      expect(same.headers).not.toHaveProperty('x-idempotency-mismatch');
    }

    async function expectMismatch(app: TestApp, secret: string): Promise<void> {
      const other = await keyed(app, secret);
      isReplayed(other);
      expect(other.headers).toHaveProperty('x-idempotency-mismatch', 'true');
    }

    it('cannot be guessed from the database, and distinguish bodies after a restart', async () => {
      const folder = newFolder();
      const first = await start(folder, KEY);
      await keyed(first, SECRETS[0]!);
      expect(await everythingStored(first)).toContain('order-1');
      expect(await everythingStored(first)).not.toContain(guess(SECRETS[0]!));
      await stop();
      const app = await start(folder, KEY);
      await expectSame(app, SECRETS[0]!);
      await expectMismatch(app, SECRETS[2]!);
    });

    it('are recognised if their hash was stored without a key', async () => {
      const app = await start(newFolder(), KEY);
      await keyed(app, SECRETS[0]!);
      const old = { request_hash: guess(SECRETS[0]!) };
      await app.app
        .get(UnitOfWork, { strict: false })
        .run((tx) => tx.db.updateTable('idempotency_keys').set(old).execute());
      await expectSame(app, SECRETS[0]!);
      await expectMismatch(app, SECRETS[2]!);
    });

    it('are answered as before under another key, which cannot detect that the body differs', async () => {
      const folder = newFolder();
      await keyed(await start(folder, KEY), SECRETS[0]!);
      await stop();
      const app = await start(folder, OTHER_KEY);
      await expectSame(app, SECRETS[0]!);
      await keyed(app, SECRETS[0]!, 'order-2');
      isReplayed(await keyed(app, SECRETS[0]!, 'order-2'));
    });
  });

  if (TEST_DATABASE === 'postgres') {
    it('compare equal on all replicas of one key', async () => {
      const folder = newFolder();
      const [one, two] = [await start(folder, KEY), await start(folder, KEY)];
      const webhook = { url: 'https://hooks.example.com/', secret: SECRETS[0] };
      await publish(one, webhook).set('X-Idempotency-Key', 'order-1').expect(200);
      const replayed = await publish(two, webhook).set('X-Idempotency-Key', 'order-1').expect(200);
      expect(replayed.headers).toMatchObject({ 'x-idempotency-replayed': 'true' });
      expect(replayed.headers).not.toHaveProperty('x-idempotency-mismatch');
      const other = await publish(two, { ...webhook, secret: SECRETS[2] })
        .set('X-Idempotency-Key', 'order-1')
        .expect(200);
      expect(other.headers).toMatchObject({ 'x-idempotency-mismatch': 'true' });
    });

    it('need no key for idempotency keys without secrets, which stay valid when a key is given', async () => {
      const folder = newFolder();
      const body = { url: 'https://hooks.example.com/' };
      const keyed = (app: TestApp, webhook: object) =>
        publish(app, webhook).set('X-Idempotency-Key', 'order-1').expect(200);
      const first = await start(folder, null);
      await keyed(first, body);
      const headersOf = async (app: TestApp, webhook: object) =>
        (await keyed(app, webhook)).headers as Record<string, string>;
      for (const app of [first, await start(folder, KEY)]) {
        expect(await headersOf(app, body)).not.toHaveProperty('x-idempotency-mismatch');
        expect(await headersOf(app, { url: 'https://other.example.com/' })).toMatchObject({
          'x-idempotency-replayed': 'true',
          'x-idempotency-mismatch': 'true',
        });
      }
    });

    it('are refused without a key, because replicas share no file', async () => {
      const app = await start(newFolder(), null);
      const detail =
        'webhook.secret: this service cannot store secrets; publish without a secret, or ask the operator to set STARLING_SECRET_KEY';
      await publish(app, { url: 'https://hooks.example.com/', secret: SECRETS[0] }).expect(400, { detail });
      expect(await app.database.rows('select id from correlations')).toEqual([]);
      await publish(app, { url: 'https://hooks.example.com/' }).expect(200);
    });
  } else {
    it('are stored under a key in a file beside the database, created once and only for its owner', async () => {
      const folder = newFolder();
      const file = join(folder, 'starling.db.key');
      await publish(await start(folder, null), { url: 'https://hooks.example.com/', secret: SECRETS[0] }).expect(200);
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
      expect(readdirSync(folder).filter((name) => name.includes('.key'))).toEqual(['starling.db.key']);
      const key = readFileSync(file, 'utf8');
      expect(key).toMatch(/^[0-9a-f]{64}\n$/);
      await stop();
      expect(await secretsOf(await start(folder, null))).toEqual([SECRETS[0]]);
      expect(readFileSync(file, 'utf8')).toBe(key);
      await stop();
      // The same key, given as a setting.
      expect(await secretsOf(await start(folder, key.trim()))).toEqual([SECRETS[0]]);
    });

    it('are unreadable if the file was lost, which the log reports', async () => {
      const folder = newFolder();
      await publish(await start(folder, null), { url: 'https://hooks.example.com/', secret: SECRETS[0] }).expect(200);
      await stop();
      rmSync(join(folder, 'starling.db.key'));
      const app = await start(folder, null);
      expect(app.logLines).toContainEqual(
        expect.objectContaining({ level: 50, msg: expect.stringMatching(/^secret_key: /) }),
      );
      await expect(secretsOf(app)).rejects.toThrow('stored with another secret_key');
    });

    it('create no file if the key is given', async () => {
      const folder = newFolder();
      await start(folder, KEY);
      expect(existsSync(join(folder, 'starling.db.key'))).toBe(false);
    });
  }
});

/** Returns every byte of a SQLite database's files, or the text of every row of a Postgres one. */
async function everythingStored(app: TestApp): Promise<string> {
  if (TEST_DATABASE === 'sqlite') {
    return readdirSync(app.folder)
      .filter((name) => name.startsWith('starling.db'))
      .map((name) => readFileSync(join(app.folder, name)).toString('latin1'))
      .join('\n');
  }
  const tables = await app.database.rows<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  const texts = await Promise.all(
    tables.map(({ name }) => app.database.rows<{ text: string }>(`select t::text as text from "${name}" as t`)),
  );
  return texts
    .flat()
    .map(({ text }) => text)
    .join('\n');
}

// Clicks "Copy as curl" in each view of the web app in a real browser, behind a proxy with a path prefix, runs the command
// in a shell, and compares the answer with what the page shows.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Locator, Page } from 'playwright-core';

import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { describeFilledDashboard, REQUESTS, showsContent, VIEWS } from '../content.js';

type Row = Record<string, unknown>;

const run = promisify(execFile);

/** Characters that a shell, curl or JSON treats specially. */
const HOSTILE = `it's "quoted"; $HOME \`id\` \\n @x, {a,b} [1-2] é`;

/** The texts of an answer that the page shows, in its text, its titles or its fields. */
const items =
  (...keys: string[]) =>
  ({ items: rows }: Row): unknown[] =>
    (rows as Row[]).flatMap((row) => keys.map((key) => row[key]));

/** The texts of the answer to its command that each view shows, for the views that read. */
const SHOWN: Record<string, (answer: Row) => unknown[]> = {
  correlations: items('correlation_id'),
  'a correlation': ({ executions }) => (executions as Row[]).map(({ agent }) => agent),
  artifacts: items('id', 'type'),
  'an artifact': ({ id, type, payload }) => [id, type, (payload as Row).item],
  agents: ({ agents }) => (agents as Row[]).map(({ name }) => name),
  'an agent': ({ agents }) =>
    (agents as Row[]).filter(({ name }) => name === 'packer').flatMap(({ outputs }) => outputs),
  'the graph': ({ agents }) => (agents as Row[]).map(({ name }) => name),
  executions: items('id', 'agent'),
  failures: items('message', 'agent'),
  'what waits': items('agent', 'correlation_id'),
  limits: items('name'),
  schedules: items('name'),
  'the inbox': items('agent'),
  batches: items('agent_name'),
  'a batch': ({ batch_id, status }) => [batch_id, status],
  experiments: items('name'),
  'an experiment': ({ name, state }) => [name, state],
  'the changelog': items('artifact_type', 'correlation_id'),
  comparing: items('type'),
  deliveries: items('correlation_id', 'target_origin'),
};

describeFilledDashboard('Copy as curl', (dashboard) => {
  let proxy: CuttableProxy;
  let folder: string;

  beforeAll(async () => {
    proxy = await CuttableProxy.start(dashboard.app.url, '/tools/starling');
    folder = await mkdtemp(join(tmpdir(), 'starling-curl-'));
  });
  afterAll(async () => {
    await proxy.cut();
    await rm(folder, { recursive: true });
  });

  const open = async (path: string): Promise<Page> => {
    // Wide enough for all columns.
    const { page } = await dashboard.open({ width: 1_920 });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${proxy.url}/dashboard${path}`);
    return page;
  };

  /** Copies the command of a button and runs it in the folder. */
  const runCommand = async (page: Page, within: Locator = page.locator('main')): Promise<string> => {
    await within.getByRole('button', { name: 'Copy as curl' }).first().click();
    await page.getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toContain(`'${proxy.url}/`);
    const { stdout } = await run('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    return stdout;
  };

  it.each(VIEWS.filter(({ name }) => name in SHOWN))('gives what is shown: $name', async (view) => {
    const { name, path } = view;
    const page = await open(path(dashboard.content));
    await showsContent(page, view);
    const texts = SHOWN[name]!(JSON.parse(await runCommand(page)) as Row);
    expect(texts.length).toBeGreaterThan(0);
    await eventually(`${name} shows ${texts.join(', ')}`, async () => {
      const shown = await allTexts(page);
      return texts.every((one) => shown.includes(String(one)));
    });
  });

  it('is in every view, also before it has its data and when it cannot read it', async () => {
    const page = await open('');
    let fails = false;
    await page.route(REQUESTS, (route) =>
      fails ? route.fulfill({ status: 500, json: { detail: 'out of order' } }) : undefined,
    );
    for (const { path } of VIEWS) {
      for (fails of [false, true]) {
        await page.goto(`${proxy.url}/dashboard${path(dashboard.content)}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await page.locator('main').getByRole('button', { name: 'Copy as curl' }).first().isVisible()).toBe(true);
      }
    }
  });

  it('gives the numbers of the overview', async () => {
    const page = await open('');
    const tile = page.getByRole('listitem').filter({ hasText: 'For people' });
    await eventually('the tile counts one', async () => (await tile.innerText()).includes('1'));
    expect(await runCommand(page)).toMatch(/^starling_external_executions(?:\{.*\})? 1$/m);
  });

  it('publishes the payload, the tags and the correlation id, with characters that a shell treats specially', async () => {
    const query = new URLSearchParams({ tag: HOSTILE, correlation_id: `it's-"1"`, as: 'json', wait: 'no' });
    const page = await open(`/publish?${query}`);
    await page.getByRole('textbox', { name: 'Payload' }).fill(JSON.stringify({ item: HOSTILE }));
    await runCommand(page);
    const { body } = await dashboard.app.http
      .get(`/api/v1/artifacts?${new URLSearchParams({ tag: HOSTILE })}`)
      .expect(200);
    expect(body).toMatchObject({
      items: [{ payload: { item: HOSTILE }, tags: [HOSTILE], correlation_id: `it's-"1"` }],
    });
  });

  it.each([
    ['/publish?as=json', 'Payload'],
    ['/agents/packer?as=json', 'Order'],
    ['/batches/new?source=list', 'List of inputs'],
  ])('offers no command in %s for text that is not JSON', async (path, field) => {
    const page = await open(path);
    await page.getByRole('textbox', { name: field, exact: true }).fill('{"item": ');
    await eventually('the button is disabled', () =>
      page.locator('main').getByRole('button', { name: 'Copy as curl', disabled: true }).isVisible(),
    );
  });

  it('runs an agent on inputs with such characters', async () => {
    const page = await open('/agents/packer?as=json');
    const section = page.getByRole('region', { name: 'Run it alone' });
    await section.getByRole('textbox', { name: 'Order' }).fill(JSON.stringify({ item: HOSTILE }));
    expect(JSON.parse(await runCommand(page, section))).toMatchObject({
      artifacts: [{ type: 'Parcel', payload: { item: HOSTILE } }],
    });
  });

  it.each(['inputs.csv', `it's "this", a;b \\ é.csv`])('uploads the file %s as a form', async (name) => {
    const csv = `item\n"${HOSTILE.replaceAll('"', '""')}"\na chair\n`;
    await writeFile(join(folder, name), csv);
    const page = await open('/batches/new?agent=printer');
    await page.getByLabel('CSV file with a header').setInputFiles(join(folder, name));
    await page.getByRole('region', { name: 'Preview' }).getByText('a chair').waitFor();
    expect(await outcomes(JSON.parse(await runCommand(page)) as Row)).toEqual([HOSTILE, 'a chair']);
  });

  it('starts a batch of a list', async () => {
    const page = await open('/batches/new?agent=printer&source=list&order=one+by+one');
    await page.getByRole('textbox', { name: 'List of inputs' }).fill(JSON.stringify([{ item: HOSTILE }]));
    expect(await outcomes(JSON.parse(await runCommand(page)) as Row)).toEqual([HOSTILE]);
  });

  /** Waits for the end of a batch, and returns the items that were packed. */
  const outcomes = async ({ batch_id: id }: Row): Promise<unknown[]> => {
    const read = async (): Promise<{ status: string; results: { result: Row }[] }> =>
      (await dashboard.app.http.get(`/batch/${id as string}`).expect(200)).body;
    await eventually('the batch has ended', async () => (await read()).status === 'completed');
    return (await read()).results.map(({ result }) => result.item);
  };
});

const allTexts = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const main = document.querySelector('main');
    const titles = [...main.querySelectorAll('[title]')].map(({ title }) => title);
    return [main.innerText, ...titles].join('\\n');
  })()`);

// Opens the web app of the application in a real browser, with content that wants to run or to break the page.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeDashboard, type OpenedPage, scrollsSideways } from '../../support/page-checks.js';
import { answers, Receiver } from '../../support/receiver.js';

const MARKUP = '<img src=x onerror=window.hostile=1><script>window.hostile=1</script>';
/** Reverses the order of all text that follows. */
const OVERRIDE = '\u202e';
/** Hebrew, which is written from right to left. */
const REVERSED_LETTERS = '\u05e9\u05dc\u05d5\u05dd';
const MEGABYTE = 'A'.repeat(1_000_000);
const LEVELS = 50;
const NESTED = Array.from({ length: LEVELS }).reduce((inner) => ({ level: inner }), `the innermost ${MARKUP}`);

/** With a name that JavaScript treats specially, which JSON.stringify would leave out. */
const PAYLOAD = `{"markup": ${JSON.stringify(MARKUP)}, "__proto__": "a name", "${MARKUP}": 1, "${'k'.repeat(2_000)}": 2,
  "reversed": "${OVERRIDE}gpj.exe", "nested": ${JSON.stringify(NESTED)}, "long": "${MEGABYTE}"}`;

/** All that the configuration allows in a name: it refuses control characters, to which marks of direction belong. */
const hostile = (name: string): string => `${name} "${MARKUP}'/../%2F?a=1&b#c${REVERSED_LETTERS}`;

const ORDER = hostile('Order');
const ECHO = hostile('echo');
const BROKEN = hostile('broken');
const PERSON = hostile('person');

const CONFIG = JSON.stringify({
  types: {
    [ORDER]: { description: MARKUP },
    [hostile('Answer')]: {
      schema: {
        type: 'object',
        properties: { text: { type: 'string', title: MARKUP, description: MARKUP, enum: [MARKUP, 'no'] } },
      },
    },
  },
  agents: {
    [ECHO]: {
      description: MARKUP,
      consumes: [{ types: [ORDER] }],
      publishes: [{ type: hostile('Echo') }],
      engine: { kind: 'expression', expression: 'payload' },
    },
    [BROKEN]: { consumes: [{ types: [ORDER] }], engine: { kind: 'function', module: './broken.ts' } },
    [PERSON]: {
      consumes: [{ types: [ORDER] }],
      publishes: [{ type: hostile('Answer') }],
      engine: { kind: 'external', assignee: MARKUP },
    },
    [hostile('joiner')]: {
      consumes: [{ types: [ORDER, hostile('Never')], join: { by: 'payload.markup' } }],
      publishes: [{ type: hostile('Joined') }],
      engine: { kind: 'expression', expression: '{}' },
    },
    [hostile('window')]: {
      consumes: [{ types: [ORDER], batch: { size: 9, timeout: '1h' } }],
      publishes: [{ type: hostile('Ledger') }],
      engine: { kind: 'expression', expression: '{}' },
    },
  },
});

const FILES = {
  'broken.ts': `export default () => {
    const error = new Error(${JSON.stringify(`${MARKUP} ${OVERRIDE} ${MEGABYTE}`)});
    error.name = ${JSON.stringify(MARKUP)};
    throw error;
  };`,
};

/** No view is as high as a megabyte of text would be. */
const MOST_HEIGHT_PX = 12_000;

/** Cells with markup, a formula, a reversed name and a long text. */
const csvOf = (length: number): string =>
  `text,${MARKUP}\n${MARKUP},=HYPERLINK(1)\n${OVERRIDE}gpj.exe,${'B'.repeat(length)}\n`;

const CORRELATION = `"><script>window.hostile=1</script>/..%2F?#`;

describeDashboard(
  'hostile content',
  {
    config: CONFIG,
    files: FILES,
    settings: { bodyLimitBytes: 4 * 2 ** 20, outboundAllow: ['127.0.0.1/32'], webhookRetries: [3_600_000] },
  },
  (dashboard) => {
    let receiver: Receiver;
    let artifact: string;
    let batch: string;
    let task: string;

    beforeAll(async () => {
      const { http } = dashboard.app;
      receiver = await Receiver.start();
      const hook = `/${encodeURIComponent(MARKUP)}`;
      receiver.on(hook, answers(503));
      const body = `{"type": ${JSON.stringify(ORDER)}, "tags": [${JSON.stringify(MARKUP)}, "a${OVERRIDE}b"],
        "payload": ${PAYLOAD}, "webhook": {"url": "${receiver.url(hook)}"}}`;
      await http
        .post('/api/v1/artifacts')
        .set('Content-Type', 'application/json')
        .set('X-Correlation-ID', CORRELATION)
        .send(body)
        .expect(200);
      const csv = csvOf(100_000);
      const started = await http
        .post('/run/batch')
        .field('request', JSON.stringify({ agent_name: ECHO }))
        .attach('file', Buffer.from(csv), { filename: `${MARKUP}.csv`, contentType: 'text/csv' })
        .expect(200);
      batch = started.body.batch_id;
      const failing = { agent_name: BROKEN, batch_inputs: [{ text: MARKUP }] };
      await http.post('/run/batch').send(failing).expect(200);
      await eventually('the work is done', async () => {
        const { body: list } = await http.get('/api/v1/executions?limit=100').expect(200);
        const { items } = list as { items: { id: string; agent: string; state: string }[] };
        const { body: artifacts } = await http
          .get('/api/v1/artifacts')
          .query({ type: ORDER, order: 'asc' })
          .expect(200);
        artifact = (artifacts as { items: [{ id: string }] }).items[0].id;
        task = items.find(({ agent }) => agent === PERSON)?.id ?? '';
        return items.length === 6 && items.every(({ agent, state }) => agent === PERSON || /ed$/.test(state));
      });
    });
    afterAll(() => receiver.close());

    const open = async (path: string): Promise<OpenedPage> => {
      const opened = await dashboard.open();
      await opened.page.addInitScript(
        `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
          window.violation = violatedDirective + ' ' + blockedURI;
        });`,
      );
      await opened.page.goto(`${dashboard.app.url}/dashboard${path}`);
      await opened.page.locator('main h1').waitFor();
      await opened.page.locator('main [data-loading]').first().waitFor({ state: 'detached' });
      return opened;
    };

    const check = async ({ page, complaints }: OpenedPage, text = MARKUP): Promise<void> => {
      await shows(page, text);
      expect(await page.locator('img, main script, dialog script').count()).toBe(0);
      expect(await page.evaluate('window.hostile')).toBeUndefined();
      expect(await page.evaluate('window.violation')).toBeUndefined();
      expect(complaints).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      const height = await page.evaluate<number>(`document.querySelector('main').scrollHeight`);
      expect(height).toBeLessThan(MOST_HEIGHT_PX);
      await page.setViewportSize({ width: 320, height: 800 });
      await eventually('the view fits into 320 px', async () => !(await scrollsSideways(page)));
      // The page still answers to a person.
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Search' }).waitFor();
    };

    interface View {
      name: string;
      path: () => string;
      act?: (page: Page) => Promise<unknown>;
      /** The part of the content that it shows, if that is not the markup. */
      text?: string;
    }

    const first = (page: Page, name: string): Promise<void> =>
      page.getByRole('main').getByRole('button', { name }).first().click();
    const CSV = { name: `${MARKUP}.csv`, mimeType: 'text/csv', buffer: Buffer.from(csvOf(1)) };
    const encoded = encodeURIComponent;

    const VIEWS: View[] = [
      { name: 'Overview', path: () => '', text: BROKEN },
      { name: 'Artifacts', path: () => '/artifacts' },
      { name: 'Artifacts, filtered', path: () => `/artifacts?tag=${encoded(MARKUP)}&type=${encoded(ORDER)}` },
      { name: 'Artifact', path: () => `/artifacts/${artifact}` },
      {
        name: 'Artifact, every level',
        path: () => `/artifacts/${artifact}?find=innermost`,
        text: `the innermost ${MARKUP}`,
      },
      { name: 'Correlations', path: () => `/correlations?tag=${encoded(MARKUP)}`, text: '"><s…' },
      {
        name: 'Correlation',
        path: () => `/correlations/${encoded(CORRELATION)}`,
        act: (page) => first(page, BROKEN),
      },
      {
        name: 'Correlation, graph',
        path: () => `/correlations/${encoded(CORRELATION)}?show=graph`,
        text: BROKEN,
      },
      {
        name: 'Compare',
        path: () => `/compare?left=${encoded(CORRELATION)}&right=${encoded(CORRELATION)}&show=all`,
        text: ORDER,
      },
      { name: 'Executions', path: () => '/executions', act: (page) => first(page, BROKEN) },
      { name: 'Executions, failures', path: () => '/executions?view=failures', text: BROKEN },
      { name: 'Agents', path: () => '/agents', text: ECHO },
      { name: 'Agent', path: () => `/agents/${encoded(ECHO)}`, text: ECHO },
      {
        name: 'Agent, from the list',
        path: () => '/agents',
        act: (page) => page.getByRole('link', { name: ECHO }).click(),
      },
      { name: 'Graph', path: () => '/graph', text: ECHO },
      { name: 'Waiting', path: () => '/waiting', act: (page) => first(page, hostile('joiner')) },
      { name: 'Batches', path: () => '/batches', text: ECHO },
      { name: 'Batch', path: () => `/batches/${batch}` },
      {
        name: 'Start a batch',
        path: () => `/batches/new?agent=${encoded(ECHO)}`,
        act: (page) => page.getByLabel('CSV file with a header').setInputFiles(CSV),
      },
      { name: 'Deliveries', path: () => '/deliveries', act: (page) => first(page, '127.0.0.1'), text: '"><s…' },
      { name: 'Deliveries, targets', path: () => '/deliveries?view=targets', text: '127.0.0.1' },
      { name: 'Changelog', path: () => '/changelog', text: ORDER },
      { name: 'Inbox', path: () => `/inbox?task=${task}` },
      { name: 'Publish', path: () => `/publish?type=${encoded(ORDER)}` },
      {
        name: 'Publish, what came of it',
        path: () => `/publish?type=${encoded(ORDER)}&published=${encoded(CORRELATION)}`,
      },
    ];

    it.each(VIEWS)('is text in the view $name', async ({ path, act, text }) => {
      const opened = await open(path());
      await act?.(opened.page);
      await check(opened, text);
    });

    it('is text in the form of a task that is claimed', async () => {
      const opened = await open(`/inbox?task=${task}`);
      const { page } = opened;
      await page.getByRole('button', { name: 'Claim' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill(MARKUP);
      await page.keyboard.press('Enter');
      await page.getByRole('main').locator('form').waitFor();
      await check(opened);
    });

    it('shows characters that reverse text as their escapes, and cuts a megabyte until it is asked for', async () => {
      const { page } = await open(`/artifacts/${artifact}`);
      await shows(page, String.raw`"\u202egpj.exe"`);
      await page
        .getByRole('button', { name: /Show all 1,000,0\d\d characters/ })
        .first()
        .click();
      await page.getByText(MEGABYTE).first().waitFor();
      expect(await scrollsSideways(page)).toBe(false);
    });
  },
);

const shows = (page: Page, text: string): Promise<void> =>
  page.locator('main').getByText(text).filter({ visible: true }).first().waitFor();

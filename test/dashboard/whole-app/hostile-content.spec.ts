// Opens the web app of the application in a real browser, with content that wants to run or to break the page.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeDashboard, type OpenedPage, scrollsSideways } from '../../support/page-checks.js';

const MARKUP = '<img src=x onerror=window.hostile=1><script>window.hostile=1</script>';
/** Reverses the order of all text that follows. */
const OVERRIDE = '\u202e';
const MEGABYTE = 'A'.repeat(1_000_000);
const LEVELS = 50;
const NESTED = Array.from({ length: LEVELS }).reduce((inner) => ({ level: inner }), `the innermost ${MARKUP}`);

/** With a name that JavaScript treats specially, which JSON.stringify would leave out. */
const PAYLOAD = `{"markup": ${JSON.stringify(MARKUP)}, "__proto__": "a name", "${MARKUP}": 1, "${'k'.repeat(2_000)}": 2,
  "reversed": "${OVERRIDE}gpj.exe", "nested": ${JSON.stringify(NESTED)}, "long": "${MEGABYTE}"}`;

const CONFIG = `
types:
  Order: { description: '${MARKUP}' }
  Answer:
    schema:
      type: object
      properties: { text: { type: string, title: '${MARKUP}', description: '${MARKUP}', enum: ['${MARKUP}', 'no'] } }
agents:
  echo:
    description: '${MARKUP}'
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: payload }
  broken:
    consumes: [{ types: [Order] }]
    engine: { kind: function, module: ./broken.ts }
  person:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Answer }]
    engine: { kind: external, assignee: '${MARKUP}' }
`;

const FILES = {
  'broken.ts': `export default () => {
    const error = new Error(${JSON.stringify(`${MARKUP} ${OVERRIDE} ${MEGABYTE}`)});
    error.name = ${JSON.stringify(MARKUP)};
    throw error;
  };`,
};

/** No view is as high as a megabyte of text would be. */
const MOST_HEIGHT_PX = 12_000;

const CORRELATION = `"><script>window.hostile=1</script>/..%2F?#`;

describeDashboard(
  'hostile content',
  { config: CONFIG, files: FILES, settings: { bodyLimitBytes: 4 * 2 ** 20 } },
  (dashboard) => {
    let artifact: string;
    let batch: string;
    let task: string;

    beforeAll(async () => {
      const { http } = dashboard.app;
      const body = `{"type": "Order", "tags": [${JSON.stringify(MARKUP)}, "a${OVERRIDE}b"], "payload": ${PAYLOAD}}`;
      await http
        .post('/api/v1/artifacts')
        .set('Content-Type', 'application/json')
        .set('X-Correlation-ID', CORRELATION)
        .send(body)
        .expect(200);
      const csv = `text,other\n${MARKUP},=HYPERLINK(1)\n${OVERRIDE}gpj.exe,${'B'.repeat(100_000)}\n`;
      const started = await http
        .post('/run/batch')
        .field('request', JSON.stringify({ agent_name: 'echo' }))
        .attach('file', Buffer.from(csv), { filename: `${MARKUP}.csv`, contentType: 'text/csv' })
        .expect(200);
      batch = started.body.batch_id;
      const failing = { agent_name: 'broken', batch_inputs: [{ text: MARKUP }] };
      await http.post('/run/batch').send(failing).expect(200);
      await eventually('the work is done', async () => {
        const { body: list } = await http.get('/api/v1/executions?limit=100').expect(200);
        const { items } = list as { items: { id: string; agent: string; state: string }[] };
        const { body: artifacts } = await http.get('/api/v1/artifacts?type=Order&order=asc').expect(200);
        artifact = (artifacts as { items: [{ id: string }] }).items[0].id;
        task = items.find(({ agent }) => agent === 'person')?.id ?? '';
        return items.length === 6 && items.every(({ agent, state }) => agent === 'person' || /ed$/.test(state));
      });
    });

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
      await eventually('the view fits into 320 px', async () => !(await scrollsSideways(page)), 10_000);
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

    const VIEWS: View[] = [
      { name: 'Overview', path: () => '' },
      { name: 'Artifacts', path: () => '/artifacts' },
      { name: 'Artifacts, filtered', path: () => `/artifacts?tag=${encodeURIComponent(MARKUP)}&type=%3Cscript%3E` },
      { name: 'Artifact', path: () => `/artifacts/${artifact}` },
      {
        name: 'Artifact, every level',
        path: () => `/artifacts/${artifact}?find=innermost`,
        text: `the innermost ${MARKUP}`,
      },
      { name: 'Correlations', path: () => `/correlations?tag=${encodeURIComponent(MARKUP)}`, text: '"><s…' },
      {
        name: 'Correlation',
        path: () => `/correlations/${encodeURIComponent(CORRELATION)}`,
        act: (page) => page.getByRole('button', { name: 'broken' }).click(),
      },
      {
        name: 'Executions',
        path: () => '/executions',
        act: (page) => page.getByRole('button', { name: 'broken' }).first().click(),
      },
      { name: 'Agents', path: () => '/agents', text: 'echo' },
      { name: 'Agent', path: () => '/agents/echo' },
      { name: 'Batch', path: () => `/batches/${batch}` },
      { name: 'Inbox', path: () => `/inbox?task=${task}` },
      { name: 'Publish', path: () => '/publish?type=Order' },
      {
        name: 'Publish, what came of it',
        path: () => `/publish?type=Order&published=${encodeURIComponent(CORRELATION)}`,
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
      await page.getByRole('form', { name: 'Answer' }).waitFor();
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

const shows = (page: Page, text: string): Promise<void> => page.locator('main').getByText(text).first().waitFor();

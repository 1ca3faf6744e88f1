// Opens the web app of the application in a real browser, and does in its views what the specs of each view leave out.
import type { Page, Response } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeDashboard } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } }, examples: [{ n: 7 }] } }
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  approver:
    consumes: [{ types: [Request] }]
    publishes: [{ type: Approval }]
    timeout: 18s
    engine: { kind: external }
`;

describeDashboard('actions of the web app', { config: CONFIG }, (dashboard) => {
  const publish = (correlation: string, type: string, payload = {}): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type, payload })
      .expect(200);

  const go = async (page: Page, path: string, title: string): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
  };

  const artifactsOf = async (correlation: string): Promise<{ id: string; type: string; visibility: object }[]> =>
    (await dashboard.app.http.get(`/api/v1/artifacts?order=asc&correlation_id=${correlation}`).expect(200)).body.items;

  it('changes the theme, and keeps it over a reload', async () => {
    const { page } = await dashboard.open();
    await go(page, '/agents', 'Agents');
    const background = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Theme of the system; change it' }).click();
    expect(await background()).toBe(light);
    await page.getByRole('button', { name: 'Light theme; change it' }).click();
    await page.getByRole('button', { name: 'Dark theme; change it' }).waitFor();
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Dark theme; change it' }).waitFor();
    expect(await background()).toBe(dark);
    await page.getByRole('button', { name: 'Dark theme; change it' }).click();
    await page.getByRole('button', { name: 'Theme of the system; change it' }).waitFor();
    expect(await background()).toBe(light);
  });

  it('makes the rows of lists dense and high again, and keeps it over a reload', async () => {
    const { page } = await dashboard.open();
    await go(page, '/agents', 'Agents');
    const height = async (): Promise<number> =>
      (await page.locator('[role=row][data-index]').first().boundingBox())!.height;
    const choose = async (name: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'View, agent, type or id' }).fill('rows');
      await page.getByRole('option', { name }).click();
    };
    await page.locator('[role=row][data-index]').first().waitFor();
    expect(await height()).toBe(36);
    await choose('Make rows of lists dense');
    await eventually('rows are dense', async () => (await height()) === 28);
    await page.reload();
    await page.locator('[role=row][data-index]').first().waitFor();
    expect(await height()).toBe(28);
    await choose('Make rows of lists higher');
    await eventually('rows are high', async () => (await height()) === 36);
  });

  it('finds agents, types and the ids of artifacts, correlations and batches in the palette', async () => {
    await publish('in-the-palette', 'Order', { n: 1 });
    const [order] = await artifactsOf('in-the-palette');
    const started = await dashboard.app.http
      .post('/run/batch')
      .send({ agent_name: 'echo', batch_inputs: [{ n: 1 }] })
      .expect(200);
    const batch = started.body.batch_id as string;
    const { page } = await dashboard.open();
    await go(page, '', 'Overview');
    for (const [text, kind, path] of [
      ['approver', 'Agent', '/agents/approver'],
      ['Order', 'Type', '/artifacts?type=Order'],
      [order!.id, 'Artifact', `/artifacts/${order!.id}`],
      ['in-the-palette', 'Correlation', '/correlations/in-the-palette'],
      [batch, 'Batch', `/batches/${batch}`],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'View, agent, type or id' }).fill(text);
      await page.getByRole('option', { name: kind, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${path}`);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it.each([
    ['/correlations', 'Correlations'],
    ['/graph', 'Graph'],
    ['/inbox', 'Inbox'],
  ])('skips to the content of %s', async (path, title) => {
    const { page } = await dashboard.open();
    await go(page, path, title);
    await page.getByRole('link', { name: 'Skip to the content' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
  });

  it('copies a payload', async () => {
    await publish('copied', 'Order', { n: 41 });
    const [order] = await artifactsOf('copied');
    const { page } = await dashboard.open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await go(page, `/artifacts/${order!.id}`, 'Order');
    await page.getByRole('button', { name: 'Copy payload' }).click();
    await page.getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
    expect(JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()'))).toEqual({ n: 41 });
  });

  it.each([
    ['Labelled', 'Required labels', 'pii', { kind: 'Labelled', required_labels: ['pii'] }],
    ['Tenant', 'Tenant', 'acme', { kind: 'Tenant', tenant_id: 'acme' }],
    ['After', 'Hidden for', 'PT2H', { kind: 'After', ttl: 'PT2H' }],
  ])('publishes with the visibility %s', async (kind, label, text, visibility) => {
    const correlation = `seen-by-${kind}`;
    const { page } = await dashboard.open();
    await go(page, `/publish?type=Order&wait=no&correlation_id=${correlation}`, 'Publish');
    await page.getByRole('combobox', { name: 'Visibility' }).selectOption(kind);
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByLabel(label, { exact: true }).press('Tab');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('region', { name: 'What came of it' }).waitFor();
    expect((await artifactsOf(correlation))[0]).toMatchObject({ type: 'Order', visibility });
  });

  it('publishes into a correlation from its view', async () => {
    await publish('first-of-two', 'Order', { n: 1 });
    const { page } = await dashboard.open();
    await go(page, '/correlations/first-of-two', 'first-of-two');
    await page.getByRole('link', { name: 'Publish into it' }).click();
    await page.waitForURL('**/publish?correlation_id=first-of-two');
    await page.getByRole('combobox', { name: 'Type', exact: true }).selectOption('Order');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('region', { name: 'What came of it' }).getByRole('link').first().click();
    await page.waitForURL('**/correlations/first-of-two');
    await page.getByText('4 artifacts', { exact: true }).waitFor();
  });

  it('shows in a view that is opened again what happened while another one was open', async () => {
    const publishAndWait = (correlation: string): Promise<unknown> =>
      dashboard.app.http
        .post('/api/v1/artifacts/sync')
        .set('X-Correlation-ID', correlation)
        .send({ type: 'Order', payload: { n: 1 } })
        .expect(200);
    await publishAndWait('left-and-opened');
    const { page } = await dashboard.open({ width: 1_600 });
    const begunAt = new Date();
    await go(page, '/correlations/left-and-opened', 'left-and-opened');
    await page.getByText('2 artifacts', { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Artifacts', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Artifacts' }).waitFor();
    await publishAndWait('left-and-opened');
    // Events come in order: once this one is shown, no event of the other is on its way.
    await publishAndWait('afterwards');
    await page
      .getByRole('row')
      .filter({ has: page.getByTitle('afterwards') })
      .first()
      .waitFor();
    // However long it took until here, no answer is stale by its age.
    await page.clock.setFixedTime(begunAt);
    await page.goBack();
    await page.getByText('4 artifacts', { exact: true }).waitFor();
  });

  it('pauses and resumes an agent in its view', async () => {
    const isPaused = async (): Promise<boolean> => {
      const { body } = await dashboard.app.http.get('/api/v1/agents').expect(200);
      return (body as { agents: { name: string; paused: boolean }[] }).agents.find(({ name }) => name === 'echo')!
        .paused;
    };
    const { page } = await dashboard.open();
    await go(page, '/agents/echo', 'echo');
    for (const [verb, expected] of [
      ['Pause', true],
      ['Resume', false],
    ] as const) {
      await page.getByRole('main').getByRole('button', { name: verb, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: verb }).click();
      await dialog.waitFor({ state: 'detached' });
      await eventually(`${verb} took effect`, async () => (await isPaused()) === expected);
    }
    await page.getByRole('main').getByRole('button', { name: 'Pause', exact: true }).waitFor();
  });

  it('goes through the inbox by j and k, unless the keys are switched off', async () => {
    for (const correlation of ['task-1', 'task-2']) await publish(correlation, 'Request');
    const { page } = await dashboard.open();
    await go(page, '/inbox', 'Inbox');
    const rows = page.locator('[role=row][data-index]');
    await rows.nth(1).waitFor();
    const chosen = (): Promise<boolean[]> =>
      rows
        .getByRole('button', { name: 'approver' })
        .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-expanded') === 'true'));
    const press = async (key: string, expected: boolean[]): Promise<void> => {
      await page.keyboard.press(key);
      await eventually(`after ${key}`, async () => {
        expect(await chosen()).toEqual(expected);
        return true;
      });
    };
    await press('j', [true, false]);
    await press('j', [false, true]);
    await press('k', [true, false]);
    const keys = page.getByRole('checkbox', { name: /^Keys/ });
    await keys.uncheck();
    await press('j', [true, false]);
    await page.reload();
    await rows.nth(1).waitFor();
    expect(await keys.isChecked()).toBe(false);
    await press('j', [true, false]);
    await keys.check();
    await press('j', [false, true]);
  });

  it('keeps the lease of a claimed task as long as its page is open', async () => {
    await publish('kept', 'Request');
    const { body } = await dashboard.app.http.get('/api/v1/executions?external=true&correlation_id=kept').expect(200);
    const [{ id }] = (body as { items: [{ id: string }] }).items;
    const { page } = await dashboard.open();
    await go(page, `/inbox?task=${id}`, 'Inbox');
    const answerTo = (action: string): Promise<Response> =>
      page.waitForResponse((response) => response.url().endsWith(`/executions/${id}/${action}`));
    const [claimed, renewed] = [answerTo('claim'), answerTo('heartbeat')];
    await page.getByRole('button', { name: 'Claim' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Ada');
    await page.keyboard.press('Enter');
    const claimedUntil = async (): Promise<number> =>
      Date.parse((await dashboard.app.http.get(`/api/v1/executions/${id}`).expect(200)).body.lease_until);
    await page.getByRole('button', { name: 'Complete' }).waitFor();
    const { lease_until: first } = (await (await claimed).json()) as { lease_until: string };
    expect((await renewed).status()).toBe(200);
    expect(await claimedUntil()).toBeGreaterThan(Date.parse(first));
  });
});

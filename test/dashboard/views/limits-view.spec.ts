// Opens the web app of the application in a real browser. The test claims the work, so that it holds the limits.
import type { Page } from 'playwright-core';

import { startApp, type TestAppOptions } from '../../support/app.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
limits:
  desks: { concurrency: 1 }
  per_customer: { concurrency: 1, key: payload.customer }
  unused: { rate: 60/m, burst: 10 }
  texts: { rate: 60/m, units: size(payload.text), burst: 90 }
agents:
  clerk:
    consumes: [{ types: [Letter] }]
    limits: [desks]
    publishes: [{ type: Answer }]
    timeout: 1h
    engine: { kind: external }
  caller:
    consumes: [{ types: [Call] }]
    limits: [per_customer]
    concurrency: 1000
    publishes: [{ type: Note }]
    timeout: 1h
    engine: { kind: external }
`;

describeDashboard('the view Limits', { config: CONFIG }, (dashboard) => {
  const publish = (type: string, correlation: string, payload: object = {}): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type, payload })
      .expect(200);

  const claim = async (agent: string): Promise<number> => {
    const { body } = await dashboard.app.http.post('/api/v1/executions/claim').send({ agents: [agent], max: 100 });
    return (body as { executions: object[] }).executions.length;
  };

  const open = async (page: Page, query = ''): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/limits${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
  };

  const rowOf = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });

  beforeAll(async () => {
    for (const letter of ['letter-1', 'letter-2', 'letter-3']) await publish('Letter', letter);
    for (let customer = 0; customer < 60; customer += 1)
      for (const call of [1, 2]) await publish('Call', `call-${customer}-${call}`, { customer });
    expect(await claim('clerk')).toBe(1);
    // One claim looks at 100 executions, which belong to 50 customers.
    expect([await claim('caller'), await claim('caller')]).toEqual([50, 10]);
  });

  it('lists what is used and what waits, with filters', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page);
    await rowOf(page, 'desks').filter({ hasText: '1 at the same time' }).filter({ hasText: '1 of 1' }).waitFor();
    await rowOf(page, 'per_customer').filter({ hasText: '60' }).waitFor();
    await rowOf(page, 'unused').filter({ hasText: '60/m, 10 together' }).filter({ hasText: '0 of 10' }).waitFor();
    await page.getByLabel('Shown').selectOption('waiting');
    await page.waitForURL('**/limits?show=waiting');
    await page.reload();
    await rowOf(page, 'desks').waitFor();
    expect(await rowOf(page, 'unused').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Name' }).fill('nothing');
    await page.getByRole('searchbox', { name: 'Name' }).press('Enter');
    await page.getByText('No limit matches these filters').waitFor();
    expect(complaints).toEqual([]);
  });

  it('says who waits longest, by key and page', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page);
    await page.getByRole('button', { name: 'desks', exact: true }).click();
    await page.waitForURL('**/limits?limit=desks');
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByRole('link', { name: 'clerk' }).waitFor();
    const waiting = panel.getByRole('list', { name: 'Waiting' }).getByRole('listitem');
    await waiting.filter({ hasText: '1 of 1 used' }).filter({ hasText: '2 waiting' }).waitFor();
    await waiting.getByRole('link', { name: 'letter-2' }).waitFor();

    await page.getByRole('button', { name: 'per_customer', exact: true }).click();
    await panel.getByText('payload.customer').waitFor();
    await panel.getByText('Waiting, by key').waitFor();
    await waiting.nth(49).waitFor();
    const first = await waiting.first().innerText();
    expect(first).toContain('call-0-2');
    await panel.getByRole('button', { name: 'Next keys' }).click();
    await waiting.filter({ hasText: 'call-9-2' }).waitFor();
    expect(await waiting.count()).toBe(10);
    await panel.getByRole('button', { name: 'First keys' }).click();
    await waiting.filter({ hasText: 'call-0-2' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('changes a limit, shows what the service refuses, and undoes the change after a question', async () => {
    const { page } = await dashboard.open();
    await open(page, '?limit=unused');
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByText('No execution waits for it.').waitFor();
    await panel.getByRole('button', { name: 'Change it' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change unused' });
    await dialog.getByLabel('Rate, for each key').fill('often');
    await dialog.getByRole('button', { name: 'Change the limit' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'rate: must be a rate such as 60/m or 5/10s' }).waitFor();
    await dialog.getByLabel('Executions at the same time').fill('3');
    await dialog.getByLabel('Rate, for each key').fill('5/10s');
    await dialog.getByLabel('Burst:').fill('');
    await dialog.getByRole('button', { name: 'Change the limit' }).click();
    await panel.getByText('3 at the same time, 5/10s', { exact: true }).waitFor();
    await rowOf(page, 'unused').filter({ hasText: '3 at the same time, 5/10s' }).waitFor();
    await panel.getByText('60/m, 10 together', { exact: true }).waitFor();
    const limit = async () => (await dashboard.app.http.get('/api/v1/limits/unused').expect(200)).body as object;
    expect(await limit()).toMatchObject({ concurrency: 3, rate: '5/10s', burst: 1 });

    await panel.getByRole('button', { name: 'Undo the change' }).click();
    await page.getByRole('button', { name: 'Use the values of the file' }).click();
    await rowOf(page, 'unused').filter({ hasText: '60/m, 10 together' }).filter({ hasText: '0 of 10' }).waitFor();
    expect(await limit()).toMatchObject({ concurrency: null, rate: '60/m', set_at: null });
  });

  it.each([
    ['unused', '1', '60/m'],
    ['texts', 'the count of the rate', '60/m, 60 together'],
  ])('says what an empty burst of %s means', async (name, meaning, values) => {
    const { page } = await dashboard.open();
    await open(page, `?limit=${name}`);
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByRole('button', { name: 'Change it' }).click();
    const dialog = page.getByRole('dialog', { name: `Change ${name}` });
    await dialog.getByText('An empty number of executions or an empty rate does not limit.').waitFor();
    await dialog.getByLabel('Burst:').fill('');
    expect(await dialog.getByLabel('Burst:').getAttribute('placeholder')).toBe(meaning);
    await dialog.getByRole('button', { name: 'Change the limit' }).click();
    await panel.getByText(values, { exact: true }).waitFor();
    await dashboard.app.http.delete(`/api/v1/limits/${name}`).expect(200);
  });

  it('says that it is not known whether a change was made that the service does not answer', async () => {
    const { page } = await dashboard.open();
    await open(page, '?limit=unused');
    await page.getByRole('complementary').getByRole('button', { name: 'Change it' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change unused' });
    await page.route('**/api/v1/limits/unused', (route) => route.abort());
    await dialog.getByRole('button', { name: 'Change the limit' }).click();
    const alert = dialog.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toBe(
      'The service does not answer. It may have done this; look when it is back, and try again if it has not.',
    );
    await page.unroute('**/api/v1/limits/unused');
    await dialog.getByRole('button', { name: 'Change the limit' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await dashboard.app.http.delete('/api/v1/limits/unused').expect(200);
  });

  it('closes by Escape the dialog, and then the panel', async () => {
    const { page } = await dashboard.open();
    await open(page, '?limit=unused');
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByRole('button', { name: 'Change it' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change unused' });
    await dialog.getByLabel('Burst:').press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await panel.getByRole('button', { name: 'Change it' }).press('Escape');
    await panel.waitFor({ state: 'hidden' });
  });

  it("shows the server's answer if the limit is missing", async () => {
    const { page } = await dashboard.open();
    await open(page, '?limit=desk');
    await page.getByRole('alert').filter({ hasText: 'Limit not found: desk; did you mean desks?' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await open(page, '?limit=per_customer');
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByRole('listitem').nth(49).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await panel.getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

const folder = new ConfigurationFolder();
afterAll(() => folder.remove());

/** An earlier start had a limit that the file no longer has. */
const afterAnotherFile = async (): Promise<TestAppOptions> => {
  const earlier = await startApp({ config: CONFIG, folder: folder.path });
  await earlier.http.put('/api/v1/limits/unused').send({ concurrency: 3 }).expect(200);
  await earlier.close();
  return { folder: folder.path };
};

describeDashboard('the view Limits, of a limit that the file no longer has', afterAnotherFile, (dashboard) => {
  it('deletes its values after a question, and closes it', async () => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/limits?limit=unused`);
    const panel = page.getByRole('complementary', { name: 'Limit' });
    await panel.getByText('no longer, so it limits nothing').waitFor();
    await panel.getByRole('button', { name: 'Undo the change' }).click();
    await page.getByRole('button', { name: 'Delete them' }).click();
    await panel.waitFor({ state: 'hidden' });
    await page.getByText('No limit is configured').waitFor();
    expect(complaints).toEqual([]);
  });
});

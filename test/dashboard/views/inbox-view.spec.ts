// Opens the web app of the application in a real browser, with examples/approvals.
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

describeDashboard(
  'the view Inbox',
  { configFile: join(import.meta.dirname, '../../../examples/approvals/starling.yaml') },
  (dashboard) => {
    /** Publishes a reading that a person has to approve. */
    const ask = async (correlation: string): Promise<unknown> =>
      dashboard.app.http
        .post('/api/v1/artifacts')
        .set('X-Correlation-ID', correlation)
        .send({ type: 'Reading', payload: { total: 220.5 } })
        .expect(200);

    const open = async (page: Page, path = '/inbox'): Promise<void> => {
      await page.goto(`${dashboard.app.url}/dashboard${path}`);
      await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
    };

    const publishedIn = async (correlation: string): Promise<[type: string, payload: unknown][]> => {
      const { body } = await dashboard.app.http
        .get(`/api/v1/artifacts?order=asc&correlation_id=${correlation}`)
        .expect(200);
      return (body as { items: { type: string; payload: unknown }[] }).items.map(({ type, payload }) => [
        type,
        payload,
      ]);
    };

    it('shows new work, asks once for a name, and completes it by keyboard alone', async () => {
      const { page, complaints } = await dashboard.open();
      await open(page);
      await page.getByText('Nothing waits for you').waitFor();
      await ask('by-keyboard');
      await page.getByRole('row').filter({ hasText: 'anna' }).waitFor();
      await page.keyboard.press('j');
      await page.waitForURL('**/inbox?task=*');
      const panel = page.getByRole('complementary', { name: 'Task' });
      await panel.getByText('"total": 220.5').waitFor();
      await page.keyboard.press('c');
      await page.getByRole('dialog').getByRole('textbox').fill('Ada');
      await page.keyboard.press('Enter');
      await panel.getByRole('form', { name: 'Answer' }).waitFor();
      await page.reload();
      await panel.getByRole('form', { name: 'Answer' }).waitFor();
      const question = panel.getByRole('radiogroup', { name: 'Pay this invoice?' });
      await question.waitFor();
      expect(await question.getByRole('radio', { checked: true }).count()).toBe(0);
      await page.keyboard.press('a');
      await page.keyboard.press('Space');
      await page.keyboard.press('Tab');
      await page.keyboard.type('ordered in May');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('Nothing waits for you').waitFor();
      expect((await publishedIn('by-keyboard')).slice(0, 2)).toEqual([
        ['Reading', { total: 220.5 }],
        ['Approval', { approved: true, reason: 'ordered in May' }],
      ]);

      await ask('claimed-again');
      await page.getByRole('row').filter({ hasText: 'anna' }).waitFor();
      await page.keyboard.press('j');
      await panel.getByText('"total": 220.5').waitFor();
      await page.keyboard.press('c');
      await panel.getByRole('definition').filter({ hasText: 'Ada' }).waitFor();
      await page.keyboard.press('r');
      await panel.getByRole('button', { name: 'Claim' }).waitFor();
      expect(complaints).toEqual([]);
    });

    it("shows the server's refusal at its field, takes JSON, and fails work with a reason", async () => {
      const { page } = await dashboard.open();
      await ask('by-json');
      const { body } = await dashboard.app.http
        .get('/api/v1/executions?external=true&correlation_id=by-json')
        .expect(200);
      const [{ id }] = (body as { items: [{ id: string }] }).items;
      await open(page, `/inbox?task=${id}`);
      await page.getByRole('button', { name: 'Claim' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('Ada');
      await page.getByRole('dialog').getByRole('button', { name: 'Claim' }).click();
      await page.getByRole('button', { name: 'Complete' }).click();
      const question = page.getByRole('radiogroup', { name: 'Pay this invoice?' });
      await page.getByText('is required', { exact: true }).waitFor();
      expect(await question.getAttribute('aria-invalid')).toBe('true');
      await question.getByLabel('Yes').and(page.locator(':focus')).waitFor();
      await page.getByRole('button', { name: 'JSON' }).click();
      await page.getByRole('textbox', { name: 'Approval' }).fill('{"approved": "perhaps"}');
      await page.getByRole('button', { name: 'Complete' }).click();
      await page.getByRole('alert').filter({ hasText: 'payload.approved: must be boolean' }).waitFor();
      await page.getByRole('button', { name: 'Fail' }).click();
      await page.getByLabel('Why it cannot be done').fill('No such supplier');
      await page.getByLabel('Do not try again').check();
      await page.getByRole('button', { name: 'Fail the task' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      const { body: failed } = await dashboard.app.http.get(`/api/v1/executions/${id}`).expect(200);
      expect(failed).toMatchObject({ state: 'failed', error_message: 'No such supplier', claimed_by: 'Ada' });
    });

    it('filters by agent and assignee in the URL', async () => {
      const { page } = await dashboard.open();
      await ask('filtered');
      await open(page, '/inbox?agent=approver&assignee=anna');
      await page.getByRole('row').filter({ hasText: 'approver' }).first().waitFor();
      await page.getByRole('combobox', { name: 'Agent' }).selectOption('reader');
      await page.waitForURL('**/inbox?agent=reader&assignee=anna');
      await page.getByText('No task matches these filters').waitFor();
    });

    it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
      const { page } = await dashboard.open(look);
      const correlation = `${look.colorScheme}-${look.width}`;
      await ask(correlation);
      const { body } = await dashboard.app.http
        .get(`/api/v1/executions?external=true&correlation_id=${correlation}`)
        .expect(200);
      const [{ id }] = (body as { items: [{ id: string }] }).items;
      await open(page, `/inbox?task=${id}`);
      await page.getByRole('button', { name: 'Claim' }).click();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('dialog').getByRole('textbox').fill('Ada');
      await page.keyboard.press('Enter');
      await page.getByRole('form', { name: 'Answer' }).getByRole('radiogroup').waitFor();
      await page.getByRole('row').nth(1).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
    });
  },
);

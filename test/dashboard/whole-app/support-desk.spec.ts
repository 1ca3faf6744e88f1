// Runs the built program with the support desk and a person for its reviews, and opens its pages in a real browser.
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import type { Page } from 'playwright-core';

import { builtDashboard } from '../../support/built-program.js';
import { eventually } from '../../support/eventually.js';
import { describePages } from '../../support/page-checks.js';
import { Service } from '../../support/service.js';

const EXAMPLE = join(import.meta.dirname, '../../../examples/support-desk');

/** Names the intent of a message that the classifier did not understand, so that it is routed and answered again. */
const REVIEWER = `
  reviewer:
    consumes: [{ types: [HumanReview] }]
    publishes: [{ type: Intent }]
    engine: { kind: external }
`;

/** A message of BANKING77 of which the classifier is sure. */
const CLEAR = 'I am still waiting on my card?';

describePages('the dashboard of the support desk', (open) => {
  let folder: string;
  let desk: Service;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'starling-desk-'));
    cpSync(EXAMPLE, folder, { recursive: true });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    appendFileSync(join(folder, 'starling.yaml'), REVIEWER);
    const database = `sqlite:${join(folder, 'board.db')}`;
    await builtDashboard();
    desk = await Service.start(['--config', join(folder, 'starling.yaml'), '--database-url', database]);
  });
  afterAll(async () => {
    await desk.kill('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  /** Publishes a message on the page, follows the link to its correlation and returns its id. */
  const publish = async (page: Page, text: string): Promise<string> => {
    await page.goto(`${desk.url}/dashboard/publish?type=CustomerMessage&wait=no`);
    await page.getByRole('group', { name: 'Payload' }).getByRole('textbox').fill(text);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const outcome = page.getByRole('region', { name: 'What came of it' });
    await outcome.getByRole('link').first().click();
    await page.waitForURL('**/correlations/*');
    return new URL(page.url()).pathname.split('/').at(-1)!;
  };

  const timelineOf = (page: Page): Promise<string[]> =>
    page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').allInnerTexts();

  const showsRows = (page: Page, rows: string[]): Promise<unknown> =>
    eventually(`the timeline has ${rows.join(', ')}`, async () => {
      expect((await timelineOf(page)).map((text) => text.trim()).sort()).toEqual([...rows].sort());
      return true;
    });

  it('shows how a message of BANKING77 is classified, routed and answered', async () => {
    const { page, complaints } = await open();
    await page.goto(desk.url);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const id = await publish(page, CLEAR);
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
    await showsRows(page, ['CustomerMessage', 'classifier', 'router', 'responder']);
    await page.getByRole('button', { name: 'classifier' }).click();
    const details = page.getByRole('complementary', { name: 'Selection' });
    await details.getByRole('link', { name: 'Intent' }).first().click();
    await page.waitForURL('**/artifacts/*');
    const { items } = await desk.get<{ items: { payload: { intent: string } }[] }>(
      `/api/v1/artifacts?correlation_id=${id}&type=Intent`,
    );
    await page.getByText(`"${items[0]!.payload.intent}"`).first().waitFor();
    await page.getByText('supervisor').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('brings a message that the classifier does not understand to a person, and answers it as the person decides', async () => {
    const { page, complaints } = await open();
    const id = await publish(page, 'What is your name?');
    const waits = page.getByRole('region', { name: 'Waits for' });
    await waits.getByText('reviewer, which a person or a worker has to claim').waitFor();
    await showsRows(page, ['CustomerMessage', 'classifier', 'router', 'responder', 'supervisor', 'reviewer']);

    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('row').getByRole('button', { name: 'reviewer' }).click();
    const task = page.getByRole('complementary', { name: 'Task' });
    await task.getByText(/Is this about .+ sure\./).waitFor();
    await task.getByRole('button', { name: 'Claim' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('Ada');
    await page.keyboard.press('Enter');
    await task.getByRole('form', { name: 'Answer' }).waitFor();
    await task.getByRole('button', { name: 'JSON' }).click();
    await task
      .getByRole('textbox', { name: 'Intent' })
      .fill('{"intent": "edit_personal_details", "confidence": 1, "alternatives": []}');
    await task.getByRole('button', { name: 'Complete' }).click();
    await page.getByText('Nothing waits for you').waitFor();

    await page.goto(`${desk.url}/dashboard/correlations/${id}`);
    await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
    await showsRows(page, [
      ...['CustomerMessage', 'classifier', 'router', 'responder', 'supervisor', 'reviewer'],
      ...['router', 'responder'],
    ]);
    const { items } = await desk.get<{ items: { payload: { intent: string } }[] }>(
      `/api/v1/artifacts?correlation_id=${id}&type=Reply`,
    );
    expect(items.map(({ payload }) => payload.intent)).toContain('edit_personal_details');
    expect(complaints).toEqual([]);
  });
});

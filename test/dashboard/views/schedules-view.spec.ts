// Opens the web app of the application in a real browser.
import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { ManualClock } from '../../support/manual-clock.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  ReportDue: {}
  Report: { schema: { type: object, properties: { day: { type: string } } } }
schedules:
  wrong:
    at: [2020-06-30T18:00Z, 2090-06-30T18:00Z]
    publishes: { type: Report, payload: "{ 'day': scheduled_for < '2021' ? 1 : scheduled_for }" }
  daily: { cron: 0 7 * * *, time_zone: Europe/Berlin, publishes: { type: ReportDue } }
  over: { at: 2020-06-30T18:00Z, publishes: { type: ReportDue } }
`;

describeDashboard('the view Schedules', { config: CONFIG }, (dashboard) => {
  const open = async (page: Page, query = ''): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/schedules${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
  };

  const rowOf = (page: Page, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });

  const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Schedule' });

  beforeAll(async () => {
    const options = { every: '1h', publishes: { type: 'ReportDue', payload: { text: 'hello' } } };
    await dashboard.app.http.post('/api/v1/schedules').send({ name: 'hourly', options }).expect(200);
    await dashboard.app.http
      .post('/api/v1/schedules')
      .send({ name: 'far', options: { ...options, every: '30d' } })
      .expect(200);
  });

  it('lists schedules with their next ticks, with filters', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page);
    await rowOf(page, 'daily')
      .filter({ hasText: 'active' })
      .filter({ hasText: /in \d+/ })
      .waitFor();
    await rowOf(page, 'daily').filter({ hasText: '0 7 * * *, Europe/Berlin' }).waitFor();
    await rowOf(page, 'hourly').filter({ hasText: 'every 1h' }).filter({ hasText: 'API' }).waitFor();
    await page.getByLabel('State').selectOption('ended');
    await page.waitForURL('**/schedules?state=ended');
    await page.reload();
    await rowOf(page, 'over').waitFor();
    expect(await rowOf(page, 'daily').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Name' }).fill('nothing');
    await page.getByRole('searchbox', { name: 'Name' }).press('Enter');
    await page.getByText('No schedule matches these filters').waitFor();
    expect(complaints).toEqual([]);
  });

  it('pauses and resumes one after a question, and previews its ticks in local time and UTC', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page);
    await page.getByRole('button', { name: 'daily', exact: true }).click();
    await page.waitForURL('**/schedules?schedule=daily');
    const panel = panelOf(page);
    const next = panel.getByRole('list', { name: 'Next ticks' }).getByRole('listitem');
    await next.nth(9).waitFor();
    expect(await next.first().innerText()).toMatch(/T07:00:00\+0[12]:00\s+\d{4}-\d\d-\d\d 0[56]:00:00 UTC/);
    await panel.getByText('the configuration file; change it there').waitFor();
    await panel.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Pause the schedule' }).click();
    await rowOf(page, 'daily').filter({ hasText: 'paused' }).waitFor();
    expect((await dashboard.app.http.get('/api/v1/schedules/daily').expect(200)).body).toMatchObject({
      paused_at: expect.any(String) as string,
    });
    await panel.getByRole('list', { name: 'Ticks if it is resumed' }).getByRole('listitem').nth(9).waitFor();
    expect(await next.count()).toBe(0);
    await panel.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Resume the schedule' }).click();
    await rowOf(page, 'daily').filter({ hasText: 'active' }).waitFor();
    await next.nth(9).waitFor();
    expect(complaints).toEqual([]);
  });

  it('triggers one, which leads to the correlation of the tick', async () => {
    const { page } = await dashboard.open();
    await open(page, '?schedule=far');
    const panel = panelOf(page);
    await panel.getByText('It has no tick yet.').waitFor();
    await panel.getByRole('button', { name: 'Trigger' }).click();
    await page.getByRole('button', { name: 'Publish 1 tick' }).click();
    const tick = panel.getByRole('list', { name: 'Latest ticks' }).getByRole('listitem').filter({ hasText: 'trigger' });
    await tick.filter({ hasText: 'published' }).waitFor();
    await panel.getByRole('combobox', { name: 'Latest ticks' }).selectOption('skipped');
    await page.waitForURL('**/schedules?schedule=far&ticks=skipped');
    await panel.getByText('There is none.').waitFor();
    await panel.getByRole('combobox', { name: 'Latest ticks' }).selectOption('all');
    await tick.getByRole('link').click();
    await page.waitForURL('**/correlations/*');
  });

  it('shows the ticks of the past before it publishes them, and what the service refuses', async () => {
    const { page } = await dashboard.open();
    await open(page, '?schedule=hourly');
    const panel = panelOf(page);
    await panel.getByRole('button', { name: 'Backfill' }).click();
    const dialog = page.getByRole('dialog', { name: 'Backfill hourly' });
    await dialog.getByLabel('From').fill('2026-01-01');
    await dialog.getByLabel('To').fill('2999-01-01');
    await dialog.getByRole('button', { name: 'Show the ticks' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'to: must not be in the future' }).waitFor();
    await dialog.getByLabel('To').fill('2026-01-01T11:30Z');
    await dialog.getByRole('button', { name: 'Show the ticks' }).click();
    await dialog.getByText('2026-01-01T09:00:00+00:00').waitFor();
    await dialog.getByText('and 2 more').waitFor();
    const ticks = async (): Promise<object[]> =>
      ((await dashboard.app.http.get('/api/v1/schedules/hourly/ticks').expect(200)).body as { ticks: object[] }).ticks;
    const before = (await ticks()).length;
    await dialog.getByRole('button', { name: 'Publish 12 ticks' }).click();
    await panel.getByRole('list', { name: 'Latest ticks' }).getByText('backfill').nth(11).waitFor();
    expect((await ticks()).length).toBeGreaterThanOrEqual(before + 12);
    await panel.getByRole('button', { name: 'Backfill' }).click();
    await dialog.getByLabel('From').fill('2026-01-01');
    await dialog.getByLabel('To').fill('2026-01-01T11:30Z');
    await dialog.getByRole('button', { name: 'Show the ticks' }).click();
    await dialog.getByText('No tick of this time is left to publish.').waitFor();
  });

  it('does not publish ticks of which none can be published', async () => {
    const { page } = await dashboard.open();
    await open(page, '?schedule=wrong');
    await panelOf(page).getByRole('button', { name: 'Backfill' }).click();
    const dialog = page.getByRole('dialog', { name: 'Backfill wrong' });
    await dialog.getByLabel('From').fill('2020-06-30');
    await dialog.getByLabel('To').fill('2020-06-30');
    await dialog.getByRole('button', { name: 'Show the ticks' }).click();
    await dialog.getByText('fails: payload.day: must be string').waitFor();
    expect(await dialog.getByRole('button', { name: 'Publish 0 ticks' }).isDisabled()).toBe(true);
  });

  it('says that a schedule is deleted while it is shown', async () => {
    const { page } = await dashboard.open();
    const options = { every: '1h', publishes: { type: 'ReportDue' } };
    await dashboard.app.http.post('/api/v1/schedules').send({ name: 'brief', options }).expect(200);
    await open(page, '?schedule=brief');
    await panelOf(page).getByRole('button', { name: 'Pause' }).waitFor();
    await dashboard.app.http.delete('/api/v1/schedules/brief').expect(200);
    await panelOf(page).getByRole('alert').filter({ hasText: 'Schedule not found: brief' }).waitFor();
    expect(await panelOf(page).getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });

  it("shows the server's answer if the schedule is missing", async () => {
    const { page } = await dashboard.open();
    await open(page, '?schedule=dayly');
    await page.getByRole('alert').filter({ hasText: 'Schedule not found: dayly; did you mean daily?' }).waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await open(page, '?schedule=daily');
    await panelOf(page).getByRole('list', { name: 'Next ticks' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    await panelOf(page).getByRole('button', { name: 'Backfill' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

const WORK = `
types: { Due: {}, Checked: {} }
schedules:
  forgetful: { every: 1h, missed: skip, publishes: { type: Due } }
  patient: { every: 7d, catch_up: 8d, overlap: skip, publishes: { type: Checked } }
agents:
  checker: { consumes: [{ types: [Checked] }], engine: { kind: external } }
`;
const HOUR_MS = 3_600_000;
const clock = new ManualClock();

/** The clock stands still and jumps, so a schedule misses what it has passed. */
describeDashboard('the view Schedules, of ticks that were not published', { config: WORK, clock }, (dashboard) => {
  interface Tick {
    state: string;
    scheduled_for: string;
    local: string;
  }

  const ticksOf = async (name: string): Promise<Tick[]> =>
    ((await dashboard.app.http.get(`/api/v1/schedules/${name}/ticks`).expect(200)).body as { ticks: Tick[] }).ticks;

  const haveTicks = (name: string, count: number): Promise<void> =>
    eventually(`${name} has ${count} ticks`, async () => (await ticksOf(name)).length >= count);

  beforeAll(async () => {
    // The time is then between two ticks, so that the last one is late.
    clock.advance(HOUR_MS / 2);
    for (const tick of [1, 2]) {
      clock.advance(7 * 24 * HOUR_MS);
      await haveTicks('patient', tick);
    }
    await eventually('the last one has been missed', async () => (await ticksOf('forgetful'))[0]?.state === 'skipped');
  });

  it.each([
    ['forgetful', 'missed'],
    ['patient', /^correlation \S+ of an earlier tick is still active$/],
  ])('shows when the last one of %s was, its result and why', async (name, reason) => {
    const { page, complaints } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard/schedules`);
    const titles = page.getByRole('columnheader');
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });
    await row.waitFor();
    const cell = async (title: string) => row.getByRole('cell').nth((await titles.allInnerTexts()).indexOf(title));
    const [tick] = await ticksOf(name);
    const last = (await cell('Last tick')).locator('time');
    expect(await last.getAttribute('datetime')).toBe(tick!.scheduled_for);
    const result = await cell('Result');
    expect(await result.innerText()).toBe('skipped');
    expect(await result.getByTitle(reason, { exact: true }).count()).toBe(1);

    await row.getByRole('button', { name, exact: true }).click();
    const panel = page.getByRole('complementary', { name: 'Schedule' });
    await panel.getByRole('combobox', { name: 'Latest ticks' }).selectOption('skipped');
    const shown = panel.getByRole('list', { name: 'Latest ticks' }).getByRole('listitem').first();
    await shown.filter({ hasText: 'skipped' }).getByText(reason, { exact: true }).waitFor();
    expect(await shown.locator('time').getAttribute('datetime')).toBe(tick!.scheduled_for);
    expect(await shown.getByRole('link').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

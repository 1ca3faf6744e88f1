import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

import type { Browser } from 'playwright-core';

import { startBrowser } from '../test/support/browser.ts';
import { forked, type LoadGenerator, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { correlationOf, createdAt, PER_CORRELATION, PER_TAG, tagOf } from './history.ts';
import { post } from './load.ts';
import { idleRow } from './memory.ts';
import { coldLoad, nextView, openTab, scrollFrames } from './pages.ts';
import { report } from './report.ts';
import { CONNECTIONS, PUBLISH } from './requests.ts';
import { milliseconds, perSecond, printCells, type Row } from './row.ts';
import { LARGE, SMALL } from './scale.ts';
import { serveHistory } from './seeded-server.ts';
import { median, percentile } from './statistics.ts';

const OPTIONS = ['--dashboard'];
const LOADS = 9;
const CHAINS = 3_334;
const EXECUTIONS_IN_CHAIN = 3;
const SCROLL_SECONDS = 5;
const TABS = 100;
const RECORDED_MS = 30_000;
const RATE_ROUNDS = 5;
const RATE_SECONDS = 4;

/** One request of an open tab, `at` ms after the beginning of the recording. */
export interface RecordedRequest {
  path: string;
  at: number;
}

/** Measures the web app in Chromium, on SQLite. The browser, the service and the load share the machine. */
export async function dashboardRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  const browser = await startBrowser();
  report(`dashboard: histories of ${SMALL} and ${LARGE} artifacts`);
  const { server: small } = await serveHistory(folder, SMALL, OPTIONS);
  const { server: large } = await serveHistory(folder, LARGE, OPTIONS);
  report('dashboard: loads');
  const rows = [await coldRow(browser, folder, small), await listsRow(browser, small, large)];
  await Promise.all([small.stop(), large.stop()]);
  report('dashboard: starts');
  rows.push(await startRow(folder));
  const fresh = await Server.starling(folder, 'dashboard', { options: OPTIONS });
  const echo = await Server.echo(folder);
  rows.push(await idleRow(fresh, echo, 'dashboard: '));
  await echo.stop();
  report('dashboard: a large correlation');
  rows.push(...(await correlationRows(browser, generator, fresh)));
  report(`dashboard: ${TABS} tabs`);
  rows.push(await tabsRow(browser, generator, fresh));
  await fresh.stop();
  await browser.close();
  return rows;
}

async function coldRow(browser: Browser, folder: string, { url }: Server): Promise<Row> {
  const react = await Server.reactPage(folder, url);
  const loads: Record<'dashboard' | 'react', number[]> = { dashboard: [], react: [] };
  for (let load = 0; load < LOADS; load += 1) {
    loads.dashboard.push(await coldLoad(browser, `${url}/dashboard/artifacts`));
    loads.react.push(await coldLoad(browser, react.url));
  }
  await react.stop();
  const [dashboard, alone] = [median(loads.dashboard), median(loads.react)];
  return {
    work: 'dashboard: cold load to the first rows, of a page of React alone',
    value: dashboard / alone,
    atLeast: 2.5,
    aim: null,
    better: 'lower',
    unit: '',
    measured: `${milliseconds(dashboard)}, median of ${LOADS}`,
    baseline: milliseconds(alone),
  };
}

/** Starts a new service with the dashboard and without it, in turn. */
async function startRow(folder: string): Promise<Row> {
  const starts: Record<'on' | 'off', number[]> = { on: [], off: [] };
  for (let start = 0; start < LOADS; start += 1) {
    for (const dashboard of ['on', 'off'] as const) {
      const begun = performance.now();
      const server = await Server.starling(folder, `start-${dashboard}-${start}`, {
        options: dashboard === 'on' ? OPTIONS : [],
      });
      starts[dashboard].push(performance.now() - begun);
      await server.stop();
    }
  }
  const [on, off] = [median(starts.on), median(starts.off)];
  return {
    work: 'dashboard: start of the service, of one without it',
    value: on / off,
    atLeast: 1.05,
    aim: null,
    better: 'lower',
    unit: '',
    measured: `${milliseconds(on)}, median of ${LOADS}`,
    baseline: milliseconds(off),
  };
}

/** The worst ratio of the list's filters. */
async function listsRow(browser: Browser, small: Server, large: Server): Promise<Row> {
  const results: { name: string; small: number; large: number }[] = [];
  for (const name of Object.keys(filtersOf(SMALL))) {
    const times: { small: number[]; large: number[] } = { small: [], large: [] };
    for (let load = 0; load < LOADS; load += 1) {
      times.small.push(await coldLoad(browser, `${small.url}/dashboard/artifacts?${filtersOf(SMALL)[name]}`));
      times.large.push(await coldLoad(browser, `${large.url}/dashboard/artifacts?${filtersOf(LARGE)[name]}`));
    }
    results.push({ name, small: median(times.small), large: median(times.large) });
  }
  printCells([
    ['first rows of the list of', `${SMALL} artifacts`, `${LARGE} artifacts`, 'ratio'],
    ...results.map((one) => [
      one.name,
      milliseconds(one.small),
      milliseconds(one.large),
      (one.large / one.small).toFixed(2),
    ]),
  ]);
  console.log();
  const worst = results.reduce((one, other) => (other.large / other.small > one.large / one.small ? other : one));
  return {
    work: `dashboard: list of ${LARGE} against ${SMALL} artifacts, first rows, worst of ${results.length}`,
    value: worst.large / worst.small,
    atLeast: 2,
    aim: 1.2,
    better: 'lower',
    unit: '',
    measured: `${worst.name}: ${milliseconds(worst.large)}`,
    baseline: milliseconds(worst.small),
  };
}

/** Queries of the view's URL that match as many artifacts in both histories. */
function filtersOf(artifacts: number): Record<string, string> {
  const middle = artifacts / 2;
  const iso = (index: number): string => new Date(createdAt(index)).toISOString();
  return {
    'no filter': '',
    type: 'type=Kind0',
    producer: 'produced_by=sorter',
    visibility: 'visibility=Tenant',
    tag: `tag=${tagOf(1, artifacts)}`,
    correlation: `correlation_id=${correlationOf(middle + PER_CORRELATION)}`,
    'from and to': `from=${iso(middle)}&to=${iso(middle + PER_TAG - 1)}`,
  };
}

async function correlationRows(browser: Browser, generator: LoadGenerator, { url }: Server): Promise<Row[]> {
  const id = 'large';
  await generator.run({
    url,
    requests: [post('/api/v1/artifacts', { type: 'First', payload: { text: 'parcel' } }, { 'x-correlation-id': id })],
    connections: 8,
    until: { requests: CHAINS },
  });
  await eventually(`${CHAINS} chains have ended`, async () => {
    const status = (await (await fetch(`${url}/api/v1/correlations/${id}/status`)).json()) as { state: string };
    return status.state === 'completed' ? true : undefined;
  });
  const page = await openTab(browser, `${url}/dashboard/correlations`);
  const paints: number[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    paints.push(await nextView(page, `a[href$="/correlations/${id}"]`));
    if (load === LOADS - 1) break;
    await page.goBack();
    await page.locator(`a[href$="/correlations/${id}"]`).first().waitFor();
  }
  const frames = await scrollFrames(page, SCROLL_SECONDS);
  await page.close();
  const executions = CHAINS * EXECUTIONS_IN_CHAIN;
  const common = { aim: null, better: 'lower', unit: ' ms', baseline: '' } as const;
  return [
    {
      ...common,
      work: `dashboard: a correlation of ${executions} executions, until it is painted`,
      value: median(paints),
      atLeast: 500,
      measured: `median of ${LOADS}, ${milliseconds(Math.max(...paints))} at most`,
    },
    {
      ...common,
      work: 'dashboard: frames while it is scrolled, p95',
      value: percentile(frames, 0.95),
      atLeast: 50,
      measured: `${frames.length} frames in ${SCROLL_SECONDS} s`,
    },
  ];
}

/** Publishes at full speed without readers and with them, in turn. */
async function tabsRow(browser: Browser, generator: LoadGenerator, { url }: Server): Promise<Row> {
  const requests = await recordTab(browser, generator, url);
  const rates: Record<'alone' | 'watched', number[]> = { alone: [], watched: [] };
  const rate = async (): Promise<number> =>
    (await generator.run({ url, requests: PUBLISH, connections: CONNECTIONS, until: { seconds: RATE_SECONDS } }))
      .requestsPerSecond;
  for (let round = 0; round < RATE_ROUNDS; round += 1) {
    rates.alone.push(await rate());
    const readers = forked('tab-readers.ts', [url, String(TABS), JSON.stringify(requests), String(RECORDED_MS)]);
    await once(readers, 'message');
    rates.watched.push(await rate());
    readers.kill();
    await once(readers, 'exit');
  }
  const [alone, watched] = [median(rates.alone), median(rates.watched)];
  return {
    work: `dashboard: publish/s while ${TABS} tabs are open, of without them`,
    value: watched / alone,
    atLeast: 0.9,
    aim: null,
    better: 'higher',
    unit: '',
    measured: `${perSecond(watched)}; a tab sends ${requests.length} requests in ${RECORDED_MS / 1_000} s`,
    baseline: perSecond(alone),
  };
}

/** Records what the first view asks while artifacts are published at full speed. The live connection is not repeated. */
async function recordTab(browser: Browser, generator: LoadGenerator, url: string): Promise<RecordedRequest[]> {
  const page = await browser.newPage();
  await page.goto(`${url}/dashboard`);
  await page.locator('main h1').waitFor();
  const load = generator.run({
    url,
    requests: PUBLISH,
    connections: CONNECTIONS,
    until: { seconds: RECORDED_MS / 1_000 },
  });
  const begun = performance.now();
  const requests: RecordedRequest[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (!pathname.endsWith('/stream'))
      requests.push({ path: pathname + search, at: Math.round(performance.now() - begun) });
  });
  await wait(RECORDED_MS);
  await page.close();
  await load;
  return requests;
}

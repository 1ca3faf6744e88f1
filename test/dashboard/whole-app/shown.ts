import type { Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';

/** The rows of a view's list, each by the titles of its columns. An id is the whole one. */
export const rowsShown = (page: Page): Promise<Record<string, string>[]> =>
  page.evaluate(`(() => {
    const titles = [...document.querySelectorAll('[role=columnheader]')].map((header) => header.innerText);
    return [...document.querySelectorAll('[role=row][data-index]')].map((row) =>
      Object.fromEntries([...row.querySelectorAll('[role=cell]')].map((cell, index) => {
        const isId = cell.querySelector('button[aria-label^=Copy]') !== null;
        return [titles[index], isId ? cell.querySelector('[title]').title : cell.innerText.trim()];
      })));
  })()`);

/** The counts beside the list of artifacts, by their titles. */
export const facetsShown = (page: Page): Promise<Record<string, Record<string, number>>> =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('aside[aria-label=Summary] section')].map((section) => [
    section.querySelector('h2').innerText,
    Object.fromEntries([...section.querySelectorAll('li')].map((item) => {
      const [name, count] = item.innerText.split('\\n');
      return [name, Number(count.replaceAll(',', ''))];
    })),
  ]))`);

export interface ShownOverview {
  /** The numbers at the top, by their titles. */
  tiles: Record<string, string>;
  /** The counts of ended and of failed executions, by agent. */
  agents: Record<string, string[]>;
  /** The state and the id of each correlation. */
  newest: string[][];
  /** The agent and the error of each. */
  failures: string[][];
}

export const overviewShown = (page: Page): Promise<ShownOverview> =>
  page.evaluate(`(() => {
    const part = (name) => document.querySelector('section[aria-label="' + name + '"]');
    const lines = (element) => element.innerText.split('\\n').map((line) => line.trim()).filter((line) => line !== '');
    return {
      tiles: Object.fromEntries([...document.querySelector('main ul.grid').children].map(lines)),
      agents: Object.fromEntries([...part('Agents').querySelectorAll('tbody tr')].map((row) => {
        const texts = [...row.children].map((cell) => cell.innerText.trim());
        return [texts[0], texts.slice(2, 4)];
      })),
      newest: [...part('Newest correlations').querySelectorAll('li')].map((item) =>
        [lines(item)[0], item.querySelector('[title]').title]),
      failures: [...part('Newest failures').querySelectorAll('li')].map((item) =>
        [item.querySelector('a').innerText, item.lastElementChild.innerText]),
    };
  })()`);

/** The state, the name, and the attempts if there are several, of each row of a timeline, sorted. */
export const timelineShown = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('ol[aria-label=Timeline] > li')].map((row) => {
    const state = row.querySelector('[role=img]').getAttribute('aria-label');
    return [state, ...row.innerText.split('\\n').map((line) => line.trim())].filter((text) => text !== '').join(' ');
  }).sort()`);

/** The agent, the verdict and its explanation, of each subscription to an artifact, sorted. */
export const verdictsShown = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main section li:has(> div > p)')].map((item) => {
    const [agent, ...words] = item.querySelector('div > div').innerText.split('\\n').filter((text) => text.trim() !== '');
    return [agent, words.at(-1), item.querySelector('p').innerText].join('; ');
  }).sort()`);

/** The texts of the cells of the table in a section. */
export const tableShown =
  (section: string) =>
  (page: Page): Promise<string[][]> =>
    page.evaluate(`[...document.querySelectorAll('section')]
      .filter((one) => one.querySelector('h2')?.innerText === ${JSON.stringify(section)})
      .flatMap((one) => [...one.querySelectorAll('tbody tr')])
      .map((row) => [...row.children].map((cell) => cell.innerText.trim()))`);

/** The values of the meters of a page, by their names. */
export const metersShown = (page: Page): Promise<Record<string, number>> =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('[role=meter]')].map((meter) =>
    [meter.ariaLabel, Number(meter.ariaValueNow)]))`);

/** The agents that a correlation waits for, one for each sentence, and the number of all that it waits for. */
export const waitsShown = (page: Page): Promise<{ agents: string[]; all: number }> =>
  page.evaluate(`(() => {
    const waits = document.querySelector('section[aria-label="Waits for"]');
    const sentences = [...(waits?.querySelectorAll('li') ?? [])];
    return {
      agents: sentences.flatMap((one) => one.querySelector('a[href*="/agents/"]')?.innerText ?? []),
      all: sentences.length + Number(/and (\\d+) more/.exec(waits?.innerText ?? '')?.[1] ?? 0),
    };
  })()`);

/** Compares what a page shows with what the API says until they are equal, as a page follows within seconds. */
export async function agree<T>(
  what: string,
  read: (page: Page) => Promise<T>,
  page: Page,
  said: () => Promise<NoInfer<{ [K in keyof T]?: unknown }>>,
): Promise<void> {
  await eventually(`${what} are what the API says`, async () => {
    expect(await read(page)).toMatchObject(await said());
    return true;
  });
}

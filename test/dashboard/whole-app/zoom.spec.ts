// Opens every registered view of the web app in a real browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { n: { type: integer } } } }
agents:
  divider:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 12 / int(payload.n)}' }
  approver:
    consumes: [{ types: [Quotient] }]
    publishes: [{ type: Approval }]
    engine: { kind: external }
  matcher:
    consumes: [{ types: [Order, Approval], join: { by: string(payload.n), within: 1h } }]
    publishes: [{ type: Match }]
    engine: { kind: expression, expression: '{}' }
`;

const SOURCE = readFileSync(join(import.meta.dirname, '../../../dashboard/src/views.ts'), 'utf8');

const PATHS = [...SOURCE.matchAll(/path: '([^']+)',\s*title:/g)].map(([, path]) => path!);

/** 1,280 px by 800 at 200 % zoom. */
const ZOOMED = { width: 640, height: 400, deviceScaleFactor: 2 };

const LONGEST_MOTION_MS = 120;

describeDashboard('every view', { config: CONFIG }, (dashboard) => {
  /** The values for the parameters of the paths. */
  const things: Record<string, string> = {
    '/correlations/$id': 'order-1',
    '/agents/$name': 'divider',
  };

  beforeAll(async () => {
    const { http } = dashboard.app;
    const publish = (n: number) =>
      http
        .post('/api/v1/artifacts')
        .set('X-Correlation-ID', `order-${n}`)
        .send({ type: 'Order', payload: { n }, tags: ['vip'] })
        .expect(200);
    await publish(0);
    await publish(1);
    const { body } = await http.get('/api/v1/artifacts?type=Order').expect(200);
    things['/artifacts/$id'] = (body as { items: [{ id: string }] }).items[0].id;
    const batch = { agent_name: 'divider', batch_inputs: [{ n: 1 }, { n: 0 }] };
    const experiment = {
      data: { csv: 'n\n1\n0\n', agent: 'divider' },
      output: 'Quotient',
      variants: [{ name: 'now' }, { name: 'again' }],
      scorers: [{ name: 'latency', kind: 'latency' }],
    };
    const started = await http.post('/api/v1/experiments').send(experiment).expect(200);
    things['/experiments/$id'] = (started.body as { experiment_id: string }).experiment_id;
    things['/batches/$id'] = (await http.post('/run/batch').send(batch).expect(200)).body.batch_id;
  });

  const load = async (page: Page, path: string): Promise<void> => {
    const address = path.replace(/\$\w+/, () => encodeURIComponent(things[path]!));
    await page.goto(`${dashboard.app.url}/dashboard${address}`);
    await page.locator('main h1').waitFor();
    await page.locator('main [data-loading]').first().waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
  };

  it('is one of those that are checked here', () => {
    expect(PATHS.length).toBe(SOURCE.match(/load: \(\) => import/g)!.length);
    expect(PATHS.filter((path) => path.includes('$')).sort()).toEqual(Object.keys(things).sort());
  });

  it.each(PATHS)(
    'can be used at 200 %% zoom in both themes, and moves nothing with reduced motion: %s',
    async (path) => {
      const { page, complaints } = await dashboard.open({ ...ZOOMED, colorScheme: 'light' });
      await load(page, path);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      expect(await motions(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'no-preference' });
      expect((await motions(page)).filter(({ ms }) => ms > LONGEST_MOTION_MS)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );
});

interface Motion {
  element: string;
  ms: number;
}

/** The elements that have a transition or an animation, with its duration. */
const motions = (page: Page): Promise<Motion[]> =>
  page.evaluate(`[...document.querySelectorAll('*')].flatMap((element) => {
    const { transitionDuration, animationName, animationDuration } = getComputedStyle(element);
    const durations = [transitionDuration, animationName === 'none' ? '' : animationDuration].join(',').split(',');
    const ms = Math.max(...durations.map((text) => (parseFloat(text) || 0) * 1_000));
    return ms === 0 ? [] : [{ element: element.outerHTML.slice(0, 200), ms }];
  })`);

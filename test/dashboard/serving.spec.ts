// Uses the application over HTTP, and its web app in a real browser, directly and through a proxy that adds a prefix.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { startApp, type TestApp } from '../support/app.js';
import { builtDashboard } from '../support/built-program.js';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { describeDashboard, startDashboard } from '../support/page-checks.js';

const namesIn = (html: string): string[] => [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!);

describe('the web app', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startDashboard();
  });
  afterAll(() => app.close());

  it('is where / leads', async () => {
    await app.http.get('/').expect(302).expect('Location', 'dashboard');
  });

  it.each([
    ['/dashboard', './dashboard/assets/'],
    ['/dashboard/', './assets/'],
    ['/dashboard/artifacts', './assets/'],
    ['/dashboard/correlations/a%2Fb', '../assets/'],
    ['/dashboard/a/b/c', '../../assets/'],
  ])('answers %s with its page, whose files are at %s, and which browsers check again', async (path, folder) => {
    const { text, headers } = await app.http.get(path).expect(200).expect('Content-Type', 'text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['content-security-policy']).toContain("script-src 'self';style-src 'self';");
    expect(namesIn(text).length).toBeGreaterThan(2);
    for (const name of namesIn(text)) expect(name.startsWith(folder)).toBe(true);
  });

  it.each(['br', 'gzip', 'identity'])('answers with files that browsers keep, as %s', async (encoding) => {
    const page = await app.http.get('/dashboard/');
    for (const name of namesIn(page.text)) {
      const response = await fetch(`${app.url}/dashboard/${name}`, { headers: { 'Accept-Encoding': encoding } });
      expect([response.status, response.headers.get('content-encoding') ?? 'identity']).toEqual([200, encoding]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('vary')).toContain('Accept-Encoding');
      const built = readFileSync(join(await builtDashboard(), name));
      expect(Buffer.from(await response.arrayBuffer()).equals(built)).toBe(true);
    }
  });

  it.each(['assets/other.js', 'assets/../index.html.js', 'assets/..%2f..%2fmain.js'])(
    'has no file %s',
    async (name) => {
      const response = await fetch(`${app.url}/dashboard/${name}`);
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
      expect(response.status === 404 || isPage).toBe(true);
    },
  );

  it('refuses other methods', async () => {
    await app.http.post('/dashboard/artifacts').expect(405).expect('Allow', 'GET, HEAD');
  });

  it('is not there if the settings do not ask for it; then / leads to the documentation', async () => {
    const other = await startApp();
    await other.http.get('/').expect(302).expect('Location', 'docs');
    await other.http.get('/dashboard').expect(404, { detail: 'No route for GET /dashboard; /docs lists them all' });
    await other.http.get('/dashboard/assets/index.js').expect(404);
    await other.close();
  });

  it('is served for the name create_ui, too', async () => {
    const other = await startApp({ settings: { createUi: true } });
    await other.http.get('/dashboard').expect(200);
    await other.close();
  });
});

describeDashboard('the web app in a browser', { config: 'types: { Order: {} }' }, (dashboard) => {
  let proxy: CuttableProxy;

  beforeAll(async () => {
    proxy = await CuttableProxy.start(dashboard.app.url, '/desk');
  });
  afterAll(() => proxy.cut());

  it('works under the prefix of a proxy, from / and from a deep link', async () => {
    const { page, complaints } = await dashboard.open();
    const titles = {
      '': 'Overview',
      'dashboard/artifacts': 'Artifacts',
      'dashboard/artifacts?type=a%2Fb': 'Artifacts',
    };
    for (const [path, name] of Object.entries(titles)) {
      await page.goto(`${proxy.url}/${path}`);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('says since when the service is away, keeps what it shows, and is up to date when the service is back', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${proxy.url}/dashboard/artifacts`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('The board is empty').waitFor();
    await proxy.cut();
    await page.getByText('The service has not answered since').waitFor();
    expect(await page.getByText('The board is empty').isVisible()).toBe(true);
    await dashboard.app.http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', payload: { n: 1 } })
      .expect(200);
    await proxy.restore();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: '{"n":1}' }).waitFor();
    expect(await page.getByText('The service has not answered since').isVisible()).toBe(false);
  });

  it('finds a view and a type by the keyboard alone', async () => {
    const { page } = await dashboard.open();
    await page.goto(`${dashboard.app.url}/dashboard`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'View, agent, type or id' }).fill('artif');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard/artifacts');
  });
});

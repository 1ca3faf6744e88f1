// Opens each view of the web app once in a real browser, with content. `npm run test:dashboard` tests what each can do.
import { accessibilityFaults } from '../support/page-checks.js';
import { describeFilledDashboard, showsContent, VIEWS } from './content.js';
import { type OpenApi, undocumented } from './documented.js';

describeFilledDashboard('every view', (dashboard) => {
  let document: OpenApi;

  beforeAll(async () => {
    document = (await dashboard.app.http.get('/openapi.json').expect(200)).body;
  });

  it.each(VIEWS)('is there, and asks only for what /openapi.json has: $name', async (view) => {
    const { page, complaints } = await dashboard.open();
    // The requests of a worker are not reported.
    await page.addInitScript('delete window.SharedWorker');
    const requests: { method: string; url: string }[] = [];
    page.on('request', (request) => void requests.push({ method: request.method(), url: request.url() }));
    await page.goto(`${dashboard.app.url}/dashboard${view.path(dashboard.content)}`);
    await page.getByRole('heading', { level: 1, name: view.title }).waitFor();
    await showsContent(page, view);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
    const asked = requests.filter(({ url }) => !url.startsWith(`${dashboard.app.url}/dashboard`));
    expect(asked.some(({ url }) => url.includes('/changelog/stream?live=true'))).toBe(true);
    expect(undocumented(document, asked)).toEqual([]);
  });
});

// Starts `npm run dev:dashboard` beside the application, and opens it in a real browser.
import { readFileSync } from 'node:fs';

import { startApp, type TestApp } from '../../support/app.js';
import { describePages } from '../../support/page-checks.js';
import { Program } from '../../support/programs.js';

const CONFIG = `
types:
  Order: { schema: { type: object, properties: { item: { type: string } } } }
agents:
  packer:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Parcel }]
    engine: { kind: expression, expression: "{'item': payload.item}" }
`;

describePages('the web app with hot reload', (open) => {
  let app: TestApp;
  let server: Program;

  beforeAll(async () => {
    app = await startApp({ config: CONFIG });
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const [command, ...args] = scripts['dev:dashboard']!.split(' ');
    // npm itself would leave the server behind when it is killed.
    server = await Program.start(`node_modules/.bin/${command}`, [...args, '--port', '0'], { STARLING_URL: app.url });
  });
  afterAll(async () => {
    await server.kill();
    await app.close();
  });

  it('reads, publishes and follows live events through its proxy, and is connected for changes', async () => {
    const { page } = await open();
    const messages: string[] = [];
    page.on('console', (message) => void messages.push(message.text()));
    await page.goto(`${server.url}dashboard/publish?as=json`);
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 120_000 });
    await page.getByRole('textbox', { name: 'Payload' }).fill('{"item": "a lamp"}');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('The agents completed the work').waitFor();
    await page.getByRole('link', { name: 'Artifacts', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Parcel' }).waitFor();
    await app.http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', payload: { item: 'a chair' } })
      .expect(200);
    await page.getByRole('row').filter({ hasText: 'a chair' }).first().waitFor();
    expect(messages).toContain('[vite] connected.');
    expect(messages.filter((message) => message.includes('rror'))).toEqual([]);
  });
});

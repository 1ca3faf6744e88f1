// Opens the web app of the application in a real browser. The model server is a stand-in; the tool server is the
// reference server of the MCP SDK, as a process.
import { resolve } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { setKeys } from '../../engines/llm/llm-board.js';
import { ModelServer } from '../../support/model-server.js';
import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

const configFor = (models: ModelServer): string => `
models:
  openai/gpt-5-mini: { input_per_million: 100, output_per_million: 1000 }
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 3 } } } }
agents:
  responder:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    retry: { attempts: 1 }
    engine:
      kind: llm
      model: openai/gpt-5-mini
      base_url: ${models.url}
      instructions: Answer the question.
      tools: [{ mcp: { command: '${process.execPath}', args: ['${EVERYTHING}'] }, allow: [echo] }]
`;

const REFUSED = '{"text":"no"}';
const REPLY = '{"text":"It is on its way to you, and comes tomorrow."}';

interface Gate {
  opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { opened, open };
}

let models: ModelServer;

describeDashboard(
  'the model text of an execution',
  async () => {
    setKeys();
    models = await ModelServer.start();
    return { config: configFor(models) };
  },
  (dashboard) => {
    afterAll(() => models.close());

    /** Publishes a question and returns the address of its execution, which runs. */
    const ask = async (correlation: string): Promise<string> => {
      await dashboard.app.http
        .post('/api/v1/artifacts')
        .set('X-Correlation-ID', correlation)
        .send({ type: 'Question', payload: { text: 'Where is my parcel?' } })
        .expect(200);
      return `${dashboard.app.url}/dashboard/correlations/${correlation}`;
    };

    /** Opens the correlation and selects its execution, which runs. */
    const select = async (page: Page, address: string): Promise<Locator> => {
      await page.goto(address);
      await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'responder' }).click();
      const details = page.getByRole('complementary', { name: 'Selection' });
      await details.getByText('running', { exact: true }).waitFor();
      return details;
    };

    it('grows while the model writes, answer by answer, then tool calls, tokens and costs are shown', async () => {
      const [first, second] = [gate(), gate()];
      models.answers(
        { tool: 'echo', input: { message: 'parcel' } },
        { text: REFUSED, before: first.opened },
        { text: REPLY, halfway: second.opened },
      );
      const { page, complaints } = await dashboard.open();
      const details = await select(page, await ask('parcel'));
      const text = details.getByRole('region', { name: 'The model writes' });
      expect(await text.count()).toBe(0);
      first.open();
      await text.getByText(REFUSED, { exact: true }).waitFor();
      await text.getByText('{"text":"It is on its way', { exact: false }).waitFor();
      expect(await text.innerText()).not.toContain('tomorrow');

      // The text that has arrived stays while another row is selected.
      await page.getByRole('button', { name: 'Question' }).click();
      await details.getByText('Published by a client').waitFor();
      await page.getByRole('button', { name: 'responder' }).click();
      await text.getByText(REFUSED, { exact: true }).waitFor();

      second.open();
      await details.getByText('completed', { exact: true }).waitFor();
      await details.getByText('tomorrow').waitFor();
      expect(await text.count()).toBe(0);
      await details.getByText('echo').waitFor();
      // Three calls of 100 and 20 tokens each: 0.03 for the text read and 0.06 for the text written.
      await details.getByText(/^300 → 60 tokens, .+, cost 0\.09$/).waitFor();
      await page.goto(`${dashboard.app.url}/dashboard/correlations`);
      const row = page.getByRole('row').filter({ hasText: 'parcel' });
      await row.getByRole('cell', { name: '360', exact: true }).waitFor();
      await row.getByRole('cell', { name: '0.09', exact: true }).waitFor();
      expect(complaints).toEqual([]);
    });

    it('stays when the attempt fails, and says that its beginning may be missing', async () => {
      const begin = gate();
      models.answers({ text: REFUSED, before: begin.opened }, { text: '{"text":"ok"}' });
      const { page } = await dashboard.open();
      const details = await select(page, await ask('late'));
      begin.open();
      const text = details.getByRole('region', { name: 'The model wrote' });
      await text.getByText(REFUSED, { exact: true }).waitFor();
      await text.getByText('{"text":"ok"}', { exact: true }).waitFor();
      await details.getByText('Parts from before may be missing').waitFor();
      await details.getByText('failed', { exact: true }).first().waitFor();
    });

    it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
      const [begin, halfway] = [gate(), gate()];
      models.answers({ text: REPLY, before: begin.opened, halfway: halfway.opened });
      const { page } = await dashboard.open(look);
      const details = await select(page, await ask(`${look.colorScheme}-${look.width}`));
      begin.open();
      await details.getByRole('region', { name: 'The model writes' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(await scrollsSideways(page)).toBe(false);
      halfway.open();
      await details.getByText('tomorrow').waitFor();
    });
  },
);

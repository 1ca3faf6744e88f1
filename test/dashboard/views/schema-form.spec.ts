// Opens the web app of the application in a real browser. The view Publish has a form for each type.
import type { Page } from 'playwright-core';

import { accessibilityFaults, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const deep = (levels: number): object =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { inner: deep(levels - 1) } };

const TYPES = {
  Ticket: {
    schema: {
      type: 'object',
      required: ['subject', 'priority', 'urgent', 'customer'],
      properties: {
        subject: { type: 'string', title: 'What is it <b>about</b>?', description: 'In one line', maxLength: 80 },
        priority: { type: 'integer', minimum: 1, maximum: 5 },
        amount: { type: 'number' },
        urgent: { type: 'boolean' },
        queue: { enum: ['cards', 'loans'] },
        country: { enum: ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'IT'] },
        customer: { $ref: '#/$defs/customer' },
        lines: {
          type: 'array',
          items: {
            type: 'object',
            required: ['text'],
            properties: { text: { type: 'string', maxLength: 80 }, count: { type: 'integer' } },
          },
        },
        labels: { type: 'array', items: { type: 'string', maxLength: 20 } },
        payment: {
          oneOf: [
            { type: 'object', properties: { kind: { const: 'card' }, number: { type: 'string', maxLength: 20 } } },
            { type: 'object', properties: { kind: { const: 'invoice' }, days: { type: 'integer' } } },
          ],
        },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      $defs: {
        customer: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', maxLength: 100 },
            address: {
              type: 'object',
              required: ['city'],
              properties: { city: { type: 'string', minLength: 3, maxLength: 50 } },
            },
          },
        },
      },
      examples: [{}],
    },
  },
  Open: {},
  Tree: { schema: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } } },
  Deep: { schema: deep(50) },
  Choices: {
    schema: { type: 'object', properties: { word: { enum: Array.from({ length: 2_000 }, (_, n) => `w${n}`) } } },
  },
  Map: { schema: { type: 'object', additionalProperties: { type: 'string' } } },
  Anything: { schema: { type: 'object', properties: { value: {} } } },
};

const CONFIG = JSON.stringify({
  types: TYPES,
  agents: {
    taker: {
      consumes: [{ types: ['Ticket'] }],
      publishes: [{ type: 'Taken' }],
      engine: { kind: 'expression', expression: '{"ok": true}' },
    },
  },
});

describeDashboard('a form from a schema', { config: CONFIG }, (dashboard) => {
  const open = async (page: Page, query: string): Promise<void> => {
    await page.goto(`${dashboard.app.url}/dashboard/publish?${query}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  const publish = (page: Page): Promise<void> => page.getByRole('button', { name: 'Publish', exact: true }).click();

  const payloadOf = async (correlation: string): Promise<unknown> => {
    const { body } = await dashboard.app.http
      .get(`/api/v1/artifacts?correlation_id=${correlation}&type=Ticket`)
      .expect(200);
    return (body as { items: { payload: unknown }[] }).items[0]?.payload;
  };

  it('publishes texts, numbers, choices, objects, lists and alternatives', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page, 'type=Ticket&correlation_id=by-form');
    const form = page.getByRole('group', { name: 'Payload', exact: true });
    await form.getByLabel('What is it <b>about</b>?').fill('A card');
    expect(await form.getByLabel('What is it <b>about</b>?').getAttribute('aria-required')).toBe('true');
    await form.getByLabel('priority').fill('3');
    await form.getByLabel('amount (optional)').fill('12.50');
    await form.getByRole('radiogroup', { name: 'urgent' }).getByLabel('No').check();
    await form.getByRole('radiogroup', { name: 'queue' }).getByLabel('loans').check();
    await form.getByRole('combobox', { name: 'country' }).selectOption('CH');
    const customer = form.getByRole('group', { name: 'customer' });
    await customer.getByLabel('name').fill('Ada');
    await customer.getByRole('group', { name: 'address' }).getByLabel('city').fill('Bern');
    const lines = form.getByRole('group', { name: 'lines (optional)' });
    for (const text of ['first', 'second', 'third']) {
      await lines.getByRole('button', { name: 'Add to lines' }).click();
      await lines.getByLabel('text').last().fill(text);
    }
    await lines.getByRole('button', { name: 'Move item 3 up' }).click();
    await lines.getByRole('button', { name: 'Remove item 1' }).click();
    await lines.getByRole('button', { name: 'Add to lines' }).and(page.locator(':focus')).waitFor();
    await form.getByRole('button', { name: 'Add to labels' }).click();
    await form.getByLabel('labels 1').fill('vip');
    const payment = form.getByRole('radiogroup', { name: 'payment (optional)' });
    await payment.getByLabel('invoice').check();
    await form.getByLabel('days').fill('30');
    await publish(page);
    await page.getByRole('region', { name: 'payload of Taken' }).waitFor();
    expect(await payloadOf('by-form')).toEqual({
      subject: 'A card',
      priority: 3,
      amount: 12.5,
      urgent: false,
      queue: 'loans',
      country: 'CH',
      customer: { name: 'Ada', address: { city: 'Bern' } },
      lines: [{ text: 'third' }, { text: 'second' }],
      labels: ['vip'],
      payment: { kind: 'invoice', days: 30 },
    });
    expect(complaints).toEqual([]);
  });

  it('shows what the service refuses at the fields, and leaves out what was emptied', async () => {
    const { page } = await dashboard.open();
    await open(page, 'type=Ticket&correlation_id=refused');
    const form = page.getByRole('group', { name: 'Payload', exact: true });
    const city = form.getByLabel('city');
    await city.fill('No');
    await form.getByLabel('priority').fill('9');
    await publish(page);
    await page.getByRole('alert').filter({ hasText: 'payload.subject: is required' }).waitFor();
    const wrong = page.locator('[aria-invalid=true]');
    const saying = async (name: string): Promise<string> => {
      const ids = (await form.getByLabel(name).getAttribute('aria-describedby'))!.split(' ');
      return (await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).innerText()))).join(', ');
    };
    expect(await saying('What is it')).toBe('is required, In one line');
    expect(await saying('priority')).toBe('must be <= 5');
    expect(await saying('city')).toBe('must NOT have fewer than 3 characters');
    // Also the boolean and the customer's name.
    expect(await wrong.count()).toBe(5);
    await form.getByRole('radiogroup', { name: 'urgent' }).and(wrong).waitFor();
    await form.getByLabel('What is it').and(page.locator(':focus')).waitFor();

    await page.keyboard.type('A loan');
    await city.fill('');
    await form.getByLabel('priority').fill('5');
    await form.getByLabel('Yes').check();
    await form.getByRole('group', { name: 'customer' }).getByLabel('name').fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'payload of Taken' }).waitFor();
    expect(await wrong.count()).toBe(0);
    expect(await payloadOf('refused')).toEqual({
      subject: 'A loan',
      priority: 5,
      urgent: true,
      customer: { name: 'Ada' },
    });
  });

  it('is exchanged with JSON without losing the value, also when the page is loaded again', async () => {
    const { page } = await dashboard.open();
    await open(page, 'type=Ticket');
    const form = page.getByRole('group', { name: 'Payload', exact: true });
    await form.getByLabel('priority').fill('2');
    const as = page.getByRole('group', { name: 'Edit Payload as' });
    await as.getByRole('button', { name: 'JSON' }).click();
    await page.waitForURL('**/publish?*as=json*');
    const json = page.getByRole('textbox', { name: 'Payload', exact: true });
    expect(JSON.parse(await json.inputValue())).toEqual({ priority: 2 });
    await json.fill('{"priority": 4, "unknown": [1]}');
    await json.blur();
    await page.waitForURL('**/publish?*unknown*');
    await page.reload();
    expect(JSON.parse(await json.inputValue())).toEqual({ priority: 4, unknown: [1] });
    await as.getByRole('button', { name: 'Form' }).click();
    expect(await form.getByLabel('priority').inputValue()).toBe('4');
    await form.getByLabel('priority').fill('3');
    await as.getByRole('button', { name: 'JSON' }).click();
    expect(JSON.parse(await json.inputValue())).toEqual({ priority: 3, unknown: [1] });
    await json.fill('{"priority": {"is": "no number"}}');
    await as.getByRole('button', { name: 'Form' }).click();
    await page.getByText('A form cannot show this value: priority does not fit its field.').waitFor();
    expect(JSON.parse(await json.inputValue())).toEqual({ priority: { is: 'no number' } });
  });

  it.each([
    ['Open', 'The type has no schema, so any JSON object fits.'],
    ['Tree', 'it refers to itself'],
    ['Deep', 'it nests more than 8 levels'],
    ['Choices', 'word has more than 500 choices'],
    ['Map', 'it may have fields of any name'],
    ['Anything', 'value may be any value'],
  ])('is JSON, with the reason, for the type %s: %s', async (type, reason) => {
    const { page, complaints } = await dashboard.open();
    await open(page, `type=${type}`);
    await page.getByText(reason).waitFor();
    await page.getByRole('textbox', { name: 'Payload', exact: true }).fill('{}');
    expect(await page.getByRole('group', { name: 'Edit Payload as' }).count()).toBe(0);
    await publish(page);
    await page.getByRole('region', { name: `payload of ${type}` }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await open(page, 'type=Ticket');
    await page.getByRole('button', { name: 'Add to lines' }).click();
    await page.getByRole('button', { name: 'Add to labels' }).click();
    await page.getByLabel('labels 1').fill('a');
    await publish(page);
    await page.locator('[aria-invalid=true]').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});

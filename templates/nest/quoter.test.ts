import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

import { PricesModule } from './prices.module.js';
import { Quoter } from './quoter.js';

// Compiled to the folder dist.
const CONFIGURATION = new URL('../starling.yaml', import.meta.url);
const PROGRAM = { agents: [Quoter], imports: [PricesModule] };

test('an inquiry is quoted with the price of its product', async () => {
  await using kit = await startTestKit(CONFIGURATION, PROGRAM);
  const run = await kit.publish('Inquiry', { product: 'Lamp', pieces: 2 });
  assert.equal(run.first('Quote').payload['total'], 79);
  assert.equal(await (await fetch(`${kit.url}/prices`)).text(), '{"Lamp":39.5,"Chair":120}');
});

test('a large quote gets a discount', async () => {
  await using kit = await startTestKit(CONFIGURATION, PROGRAM);
  const run = await kit.publish('Inquiry', { product: 'Chair', pieces: 10 });
  assert.equal(run.first('Discount').payload['total'], 1080);
});

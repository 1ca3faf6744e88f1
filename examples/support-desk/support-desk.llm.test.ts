import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.llm.yaml', import.meta.url);
/** The answers come from the stand-in in examples/language-model. */
const RECORDED = { recordings: new URL('models.json', import.meta.url) };
const MESSAGE = { text: 'When will I get my card?' };

test('the model answers a message, and its cost is counted', async () => {
  await using kit = await startTestKit(CONFIGURATION, RECORDED);
  const run = await kit.publish('CustomerMessage', MESSAGE);
  assert.equal(run.first('Routing').payload.queue, 'cards');
  assert.match(run.first<{ text: string }>('Reply').payload.text, /^Your card is on its way/);
  const status = await fetch(`${kit.url}/api/v1/correlations/${run.correlationId}/status`);
  const { usage } = (await status.json()) as { usage: { cost: number } };
  assert.ok(usage.cost > 0 && usage.cost < 0.03);
});

test('a request that is not recorded fails the test', async () => {
  await using kit = await startTestKit(CONFIGURATION, RECORDED);
  await assert.rejects(
    kit.publish('CustomerMessage', { text: 'Where is the nearest cash machine?' }),
    /this request of responder to openai\/gpt-5-mini is not recorded/,
  );
});

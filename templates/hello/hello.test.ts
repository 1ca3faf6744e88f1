import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.yaml', import.meta.url);

test('a new visitor is greeted', async () => {
  await using kit = await startTestKit(CONFIGURATION);
  const run = await kit.publish('Visitor', { name: 'Ada', visits: 1 });
  assert.equal(run.first('Greeting').payload['text'], 'Hello Ada!');
  assert.deepEqual(run.all('Gift'), []);
  assert.equal(run.state, 'completed');
});

test('the tenth visit is worth a gift, whatever the greeter says', async () => {
  await using kit = await startTestKit(CONFIGURATION, { answers: { greeter: { text: 'Hi.' } } });
  const run = await kit.publish('Visitor', { name: 'Ada', visits: 10 });
  assert.deepEqual(run.first('Gift').payload, { for: 'Ada', what: 'a cup of coffee' });
});

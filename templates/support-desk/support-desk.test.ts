import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.yaml', import.meta.url);
const MESSAGE = { text: 'When will I get my card?' };

test('a message is classified, routed, and answered by the model', async () => {
  await using kit = await startTestKit(CONFIGURATION, { recordings: new URL('models.json', import.meta.url) });
  const run = await kit.publish('CustomerMessage', MESSAGE);
  assert.equal(run.first('Intent').payload['intent'], 'card_delivery_estimate');
  assert.equal(run.first('Routing').payload['queue'], 'cards');
  assert.ok(run.first('Reply').payload['text']);
  assert.deepEqual(run.all('HumanReview'), []);
});

test('a person is asked when the classifier is unsure, whatever the model answers', async () => {
  const classifier = { intent: 'lost_or_stolen_card', confidence: 0.3, alternatives: [] };
  const responder = { intent: 'lost_or_stolen_card', text: 'We will call you.' };
  await using kit = await startTestKit(CONFIGURATION, { answers: { classifier, responder } });
  const run = await kit.publish('CustomerMessage', MESSAGE);
  assert.match(String(run.first('HumanReview').payload['question']), /only 30 % sure/);
});

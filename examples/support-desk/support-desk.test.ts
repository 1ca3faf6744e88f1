import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.yaml', import.meta.url);
const MESSAGE = { text: 'When will I get my card?' };

test('a message is classified, routed and answered', async () => {
  await using kit = await startTestKit(CONFIGURATION);
  const run = await kit.publish('CustomerMessage', MESSAGE);
  assert.equal(run.first('Intent').payload.intent, 'card_delivery_estimate');
  assert.equal(run.first('Routing').payload.queue, 'cards');
  assert.match(run.first<{ text: string }>('Reply').payload.text, /card delivery estimate/);
  assert.deepEqual(run.all('HumanReview'), []);
});

test('a person is asked when the classifier is unsure', async () => {
  const unsure = { intent: 'lost_or_stolen_card', confidence: 0.3, alternatives: [] };
  await using kit = await startTestKit(CONFIGURATION, { answers: { classifier: unsure } });
  const run = await kit.publish('CustomerMessage', MESSAGE);
  assert.equal(run.first('Routing').payload.priority, 'urgent');
  assert.match(run.first<{ question: string }>('HumanReview').payload.question, /only 30 % sure/);
});

test('a classifier that fails is reported, and nothing is answered', async () => {
  await using kit = await startTestKit(CONFIGURATION);
  kit.answer('classifier', () => {
    throw new Error('the vocabulary is missing');
  });
  const run = await kit.publish('CustomerMessage', MESSAGE);
  await kit.advance('1m'); // past the further attempts
  assert.equal(run.state, 'failed');
  assert.equal(run.errors[0]?.error_message, 'the vocabulary is missing');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestKit } from 'starling-agents/testing';

const CONFIGURATION = new URL('starling.yaml', import.meta.url);
const INVOICE = {
  lines: [
    { text: 'Paper', amount: 120 },
    { text: 'Ink', amount: 100.5 },
  ],
};

/** Adds up the lines, as worker.mjs does. */
const reader = ([invoice]: { payload: object }[]) => {
  const { lines } = invoice!.payload as typeof INVOICE;
  return { total: lines.reduce((sum, { amount }) => sum + amount, 0) };
};

test('an invoice above 100 is paid when Anna approves it', async () => {
  await using kit = await startTestKit(CONFIGURATION, { answers: { reader } });
  const run = await kit.publish('Invoice', INVOICE);
  assert.equal(run.first<{ total: number }>('Reading').payload.total, 220.5);
  assert.deepEqual(run.all('Payment'), []);

  const work = await kit.claim('approver', { assignee: 'anna' });
  await kit.complete(work, { approved: true });
  assert.equal(run.first('Payment').payload.paid, true);
  assert.equal(run.state, 'completed');
});

test('an approval without an answer goes to the head of finance after two days', async () => {
  await using kit = await startTestKit(CONFIGURATION, { answers: { reader } });
  const run = await kit.publish('Invoice', INVOICE);
  await kit.advance('47h');
  await assert.rejects(kit.claim('approver', { assignee: 'head-of-finance' }), /no execution of approver/);

  await kit.advance('1h');
  await kit.complete(await kit.claim('approver', { assignee: 'head-of-finance' }), {
    approved: false,
    reason: 'twice',
  });
  assert.equal(run.first('Approval').payload.reason, 'twice');
  assert.deepEqual(run.all('Payment'), []);
});

test('an invoice of up to 100 needs no approval', async () => {
  await using kit = await startTestKit(CONFIGURATION, { answers: { reader: { total: 100 } } });
  const run = await kit.publish('Invoice', INVOICE);
  assert.deepEqual([run.state, run.all('Approval')], ['completed', []]);
});

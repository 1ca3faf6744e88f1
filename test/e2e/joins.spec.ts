import { ManualClock } from '../support/manual-clock.js';
import { Board, tally } from './board.js';

const CONFIG = `
agents:
  pairer:
    consumes: [{ types: [Order, Payment] }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"order": payload.Order.n, "payment": payload.Payment.n}' }
  keyed:
    consumes: [{ types: [Ticket, Reply], join: { by: payload.ticket } }]
    publishes: [{ type: Answered }]
    engine: { kind: expression, expression: '{"ticket": payload.Ticket.ticket, "reply": payload.Reply.text}' }
  hurried:
    consumes: [{ types: [Question, Answer], join: { within: 5m } }]
    publishes: [{ type: Asked }]
    engine: { kind: expression, expression: '{"ok": true}' }
  crossing:
    consumes: [{ types: [Offer, Bid], join: { by: payload.lot, within: 5m } }]
    publishes: [{ type: Deal }]
    engine: { kind: expression, expression: '{"lot": payload.Offer.lot}' }
  judge:
    consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n }]
    publishes: [{ type: Verdict }]
    engine: { kind: expression, expression: '{"n": payload.Claim.n}' }
  triple:
    consumes: [{ types: [X, Y, Z] }]
    publishes: [{ type: Triple }]
    engine: { kind: expression, expression: '{"x": payload.X.n, "y": payload.Y.n, "z": payload.Z.n, "order": inputs.map(input, input.type), "first": artifact.type}' }
  strict:
    consumes: [{ types: [First, Second], where: 'artifact.type == "First" && inputs[1].type == "Second"' }]
    publishes: [{ type: Ordered }]
    engine: { kind: expression, expression: '{"order": inputs.map(input, input.type)}' }
  sized:
    consumes: [{ types: [Item], batch: { size: 3 } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"items": payload.map(item, item.n)}' }
  timed:
    consumes: [{ types: [Event], where: payload.n >= 0.0, batch: { size: 10, timeout: 30s } }]
    publishes: [{ type: Digest }]
    engine: { kind: expression, expression: '{"events": payload.map(event, event.n)}' }
`;

/** Uses the whole app over HTTP on a database. The clock is faked. */
describe('joins and batch windows', () => {
  let board: Board;
  const clock = new ManualClock();

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
  });

  afterAll(() => board.close());

  const ofType = async (correlation: string, type: string) =>
    (await board.artifacts(correlation, { type })).map(({ payload }) => payload);

  it('join one of each type by correlation, first in first out, with duplicates of one type', async () => {
    const correlation = await board.publish('Order', { n: 1 });
    await board.publish('Order', { n: 2 }, { correlation });
    await board.publish('Payment', { n: 10 }, { correlation });
    await board.publish('Payment', { n: 20 }, { correlation });
    await board.publish('Payment', { n: 30 }, { correlation });
    await board.ended(correlation);
    // Both run in parallel, and either may finish first.
    const pairs = (await ofType(correlation, 'Pair')) as { order: number }[];
    expect(pairs.sort((one, other) => one.order - other.order)).toEqual([
      { order: 1, payment: 10 },
      { order: 2, payment: 20 },
    ]);
  });

  it('accept arrivals in any order, pass them on in that of `types`, and keep interleaved correlations apart', async () => {
    const orders = [
      ['X', 'Y', 'Z'],
      ['X', 'Z', 'Y'],
      ['Y', 'X', 'Z'],
      ['Y', 'Z', 'X'],
      ['Z', 'X', 'Y'],
      ['Z', 'Y', 'X'],
    ];
    const ids = orders.map((_, index) => `triple-${index}`);
    for (let position = 0; position < 3; position += 1) {
      for (const [index, order] of orders.entries())
        await board.publish(order[position]!, { n: index }, { correlation: ids[index] });
    }
    for (const [index, id] of ids.entries()) {
      await board.ended(id);
      expect(await ofType(id, 'Triple')).toEqual([
        { x: index, y: index, z: index, order: ['X', 'Y', 'Z'], first: 'X' },
      ]);
    }
  });

  it('do not count a half-filled join without a time limit as pending work', async () => {
    const { completed, artifacts } = await board.publishSync('Order', { n: 1 });
    expect([completed, artifacts]).toEqual([true, []]);
  });

  it('join by key across correlations; the execution belongs to the newest input', async () => {
    const first = await board.publish('Ticket', { ticket: 't1' });
    const other = await board.publish('Ticket', { ticket: 't2' });
    const second = await board.publish('Reply', { ticket: 't1', text: 'hello' });
    await board.ended(second);
    expect(await ofType(second, 'Answered')).toEqual([{ ticket: 't1', reply: 'hello' }]);
    expect(await board.types(first)).toEqual(['Ticket']);
    expect(await board.status(other)).toMatchObject({ state: 'completed' });
  });

  it('do not join artifacts without a key', async () => {
    const correlation = await board.publish('Ticket', { ticket: null });
    const reply = await board.publish('Reply', { text: 'no key at all' });
    await board.publish('Reply', { ticket: null, text: 'null' });
    await board.ended(reply);
    expect(await board.types(correlation)).toEqual(['Ticket']);
    expect(await board.types(reply)).toEqual(['Reply']);
  });

  it('evaluate `where` on the completed group, and drop a group that it refuses', async () => {
    const correlation = await board.publish('Claim', { n: 1 });
    await board.publish('Proof', { n: 2 }, { correlation });
    await board.publish('Claim', { n: 3 }, { correlation });
    await board.publish('Proof', { n: 3 }, { correlation });
    await board.ended(correlation);
    expect(await ofType(correlation, 'Verdict')).toEqual([{ n: 3 }]);
  });

  it('pass `where` the group in the order of `types`, as the agent gets it', async () => {
    const correlation = await board.publish('Second', {});
    await board.publish('First', {}, { correlation });
    await board.ended(correlation);
    expect(await ofType(correlation, 'Ordered')).toEqual([{ order: ['First', 'Second'] }]);
  });

  it('drop a group whose time limit passes, with one WorkflowError', async () => {
    const correlation = await board.publish('Question', {});
    expect(await board.status(correlation)).toMatchObject({ state: 'active', has_pending_work: true });
    clock.advance(5 * 60_000);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    const [error] = await ofType(correlation, 'WorkflowError');
    expect(error).toMatchObject({
      failed_agent: 'hurried',
      error_type: 'join_expired',
      execution_id: null,
      attempts: 0,
    });
    expect(error!.input_artifact_ids).toHaveLength(1);
    // An answer that comes too late opens a new group.
    await board.publish('Answer', {}, { correlation });
    expect(await board.status(correlation)).toMatchObject({ state: 'active' });
  });

  it('keep every member correlation of a timed group open until it closes, then only the owner', async () => {
    const offer = await board.publish('Offer', { lot: 7 });
    expect(await board.status(offer)).toMatchObject({ state: 'active' });
    const bid = await board.publish('Bid', { lot: 7 });
    expect(await board.ended(offer)).toMatchObject({ state: 'completed', artifact_count: 1 });
    await board.ended(bid);
    expect(await board.types(bid)).toEqual(['Bid', 'Deal']);
  });

  it('report an expired group in each correlation that has an artifact in it', async () => {
    const offers = [await board.publish('Offer', { lot: 8 }), await board.publish('Offer', { lot: 9 })];
    clock.advance(5 * 60_000);
    for (const offer of offers) {
      await board.ended(offer);
      expect(tally(await board.types(offer))).toEqual({ Offer: 1, WorkflowError: 1 });
    }
  });

  it('close a batch window by size, across correlations', async () => {
    const ids = [await board.publish('Item', { n: 1 }), await board.publish('Item', { n: 2 })];
    expect(await board.status(ids[0]!)).toMatchObject({ state: 'completed' });
    const last = await board.publish('Item', { n: 3 });
    await board.ended(last);
    expect(await ofType(last, 'Pack')).toEqual([{ items: [1, 2, 3] }]);
    expect(await board.types(ids[0]!)).toEqual(['Item']);
  });

  it('close a batch window by time, and evaluate `where` on each artifact', async () => {
    const first = await board.publish('Event', { n: 1 });
    await board.publish('Event', { n: -1 });
    const last = await board.publish('Event', { n: 2 });
    expect(await board.status(first)).toMatchObject({ state: 'active' });
    clock.advance(30_000);
    expect(await board.ended(first)).toMatchObject({ state: 'completed', artifact_count: 1 });
    await board.ended(last);
    expect(await ofType(last, 'Digest')).toEqual([{ events: [1, 2] }]);
  });
});

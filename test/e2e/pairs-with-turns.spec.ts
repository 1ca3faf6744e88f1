// `fair_by` and `singleton` together with what executions come from. Uses the whole app over HTTP on a database. The clock is
// faked.
import { eventually } from '../support/eventually.js';
import { ended, gatesOf, send, started } from './batch-board.js';
import type { Held } from './outside.js';
import { EXTERNAL, GATED, MINUTE, namesOf, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const MOST_EXECUTIONS = 3;
const FAIR = `fair_by: payload.tenant, ${EXTERNAL}`;
const FAIR_LIST = `fair_by: 'payload[0].tenant', ${EXTERNAL}`;

const CONFIG = `
agents:
  window: { consumes: [{ types: [Part], batch: { size: 2 } }], ${FAIR_LIST} }
  keyed_window: { consumes: [{ types: [KeyedPart], batch: { size: 2, key: payload.tenant } }], ${FAIR_LIST} }
  rows: { consumes: [{ types: [Row] }], max_share: 0.00001, ${FAIR} }
  called_off: { consumes: [{ types: [Order] }], cancel_on: { types: [Off], key: payload.order }, ${FAIR} }
  chosen: { consumes: [{ types: [Chosen] }], ${FAIR} }
  assigned: { consumes: [{ types: [Assigned] }], fair_by: payload.tenant, engine: { kind: external, assignee: anna } }
  direct: { consumes: [{ types: [Direct] }], ${FAIR} }
  again: { consumes: [{ types: [Again] }], ${TWICE}, ${FAIR} }
  fair_turn: { consumes: [{ types: [FairTurn] }], singleton: { key: payload.order, on_conflict: queue }, ${FAIR} }
  shown: { consumes: [{ types: [Secret] }], ${FAIR} }
  replayed: { consumes: [{ types: [Original] }], ${FAIR} }
  turn_shown: { consumes: [{ types: [SecretTurn] }], singleton: { key: payload.order, on_conflict: queue }, ${GATED} }
  turn_places: { consumes: [{ types: [Placed] }], singleton: { key: payload.order, on_conflict: queue }, concurrency: 2, ${GATED} }
  counted_off: { consumes: [{ types: [CountedOff] }], cancel_on: { types: [Off], key: payload.order }, ${EXTERNAL} }
  counted_cache: { consumes: [{ types: [CountedCache] }], cache: { for: 5h, key: payload.text }, ${GATED} }
  counted_again: { consumes: [{ types: [CountedAgain] }], ${TWICE}, ${GATED} }
  list_skipper: { consumes: [{ types: [SkippedPart], batch: { size: 2 } }], singleton: { key: 'payload[0].order', on_conflict: skip }, ${GATED} }
  skipper: { consumes: [{ types: [Skipped] }], singleton: { key: payload.order, on_conflict: skip }, ${GATED} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, areQueued, ends, works, waitsFor, callOff } = pairs;
  const { pause, resume, claim, claimInOrder, complete, replay, waitsAs, failsOnce } = pairs;

  beforeAll(() => pairs.start(CONFIG, { maxExecutionsPerCorrelation: MOST_EXECUTIONS }));
  afterAll(() => pairs.close());

  /** While several keys wait, one starts at most two executions between two of another one. */
  const comesInTurn = (order: readonly unknown[], name: string): void => {
    expect(order).toContain(name);
    expect(order.indexOf(name)).toBeLessThanOrEqual(2);
  };

  describe('fair_by', () => {
    it.each([
      ['a batch window', 'window', 'Part', 'fw'],
      ['a batch window by a key', 'keyed_window', 'KeyedPart', 'fk'],
    ])('and %s: its one execution has the key of its list, and uses one turn', async (_, agent, type, prefix) => {
      const names = (from: number, count: number) => Array.from({ length: count }, (__, n) => `${prefix}${from + n}`);
      await publish(type, names(1, 8), { tenant: 'a' });
      await publish(type, names(9, 2), { tenant: 'b' });
      // An execution belongs to the correlation of its last artifact.
      const windows = [2, 4, 6, 8].map((n) => `${prefix}${n}`);
      const other = `${prefix}10`;
      await areQueued(...windows, other);
      const order = await claimInOrder(agent, 5);
      comesInTurn(order, other);
      expect(order.filter((name) => name !== other)).toEqual(windows);
    });

    it('and the rows of a batch: each has a key, and their share of what may wait refuses none', async () => {
      const inputs = ['a', 'a', 'a', 'a', 'b'].map((tenant) => ({ tenant }));
      const batch = await send(pairs.board, 'rows', inputs, { max_workers: inputs.length });
      const query = { agent: 'rows', state: 'pending' };
      await eventually('all rows wait', async () => {
        const { body } = await pairs.board.http.get('/api/v1/executions').query(query).expect(200);
        return (body as { items: object[] }).items.length === inputs.length;
      });
      await areQueued();
      const live = { type: 'Row', payload: { tenant: 'a' } };
      await pairs.board.http.post('/api/v1/artifacts').send(live).expect(503);
      const held: Held[] = [];
      for (let n = 0; n < inputs.length; n += 1) held.push(...(await claim('rows', 1)));
      comesInTurn(
        held.map(({ inputs: [row] }) => row!.payload.tenant),
        'b',
      );
      await complete(held);
      expect(await ended(pairs.board, batch)).toMatchObject({ completed_items: 5, failed_items: 0 });
    });

    it('and cancel_on: it cancels those of all keys, and what is cancelled before it starts uses no turn', async () => {
      await publish('Order', ['fo1', 'fo2', 'fo3'], { tenant: 'a', order: 'fo' });
      await publish('Order', ['fo4'], { tenant: 'a', order: 'other' });
      await publish('Order', ['fo5', 'fo6', 'fo7', 'fo8'], { tenant: 'b', order: 'other' });
      await publish('Order', ['fo9'], { tenant: 'b', order: 'fo' });
      await callOff('fo');
      for (const name of ['fo1', 'fo2', 'fo3', 'fo9']) expect(await only(name)).toMatchObject({ state: 'cancelled' });
      const order = await claimInOrder('called_off', 5);
      comesInTurn(order, 'fo4');
      expect(order.filter((name) => name !== 'fo4')).toEqual(['fo5', 'fo6', 'fo7', 'fo8']);
    });

    it('and claims of a chosen execution: they use no turn', async () => {
      await publish('Chosen', ['fi1', 'fi2', 'fi3', 'fi4', 'fi5'], { tenant: 'a' });
      await publish('Chosen', ['fi6', 'fi7'], { tenant: 'b' });
      for (const name of ['fi1', 'fi2', 'fi3']) {
        const { id } = await only(name);
        await pairs.board.http.post(`/api/v1/executions/${id}/claim`).send({}).expect(200);
      }
      const order = await claimInOrder('chosen', 4);
      expect(order.slice(0, 2).sort()).toEqual(['fi4', 'fi6']);
      expect(order.slice(2).sort()).toEqual(['fi5', 'fi7']);
    });

    it('and work of an assignee: it is claimed by age, without turns', async () => {
      const names = ['fa1', 'fa2', 'fa3', 'fa4'];
      await publish('Assigned', names.slice(0, 3), { tenant: 'a' });
      await publish('Assigned', names.slice(3), { tenant: 'b' });
      const order: string[] = [];
      for (let n = 0; n < names.length; n += 1)
        order.push((await pairs.outside.claimOne({ agents: ['assigned'], assignee: 'anna', max: 1 })).correlation_id);
      expect(order).toEqual(names);
    });

    it('and a direct run: it has a key', async () => {
      await publish('Direct', ['fd1', 'fd2', 'fd3', 'fd4'], { tenant: 'a' });
      const inputs = [{ type: 'Direct', payload: { tenant: 'b' } }];
      const direct = pairs.board.http
        .post('/api/v1/agents/direct/run')
        .send({ inputs })
        .then(({ status }) => status);
      await eventually('it waits', async () => {
        const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'direct' }).expect(200);
        return (body as { items: object[] }).items.length === 5;
      });
      await areQueued();
      const held: Held[] = [];
      for (let n = 0; n < 5; n += 1) held.push(...(await claim('direct', 1)));
      comesInTurn(
        held.map(({ inputs: [input] }) => input!.payload.tenant),
        'b',
      );
      await complete(held);
      expect(await direct).toBe(200);
    });

    it('and retries: an execution that waits for its next attempt uses no turn, and its key gets none for this time', async () => {
      await publish('Again', ['fr1'], { tenant: 'a' });
      const [failed] = await claim('again');
      await pairs.outside.send(failed!, 'fail', { error_message: 'again' });
      await publish('Again', ['fr2', 'fr3', 'fr4'], { tenant: 'b' });
      expect(await claimInOrder('again', 3)).toEqual(['fr2', 'fr3', 'fr4']);
      await publish('Again', ['fr5', 'fr6'], { tenant: 'a' });
      await publish('Again', ['fr7', 'fr8'], { tenant: 'b' });
      const order = await claimInOrder('again', 4);
      expect(order.slice(0, 2).sort()).toEqual(['fr5', 'fr7']);
      clock.advance(RETRY);
      expect(await claimInOrder('again', 1)).toEqual(['fr1']);
    });

    it('and singleton: what has its turn of the key takes turns, and what waits for it uses none', async () => {
      await publish('FairTurn', ['ft1', 'ft2', 'ft3', 'ft4'], { tenant: 'a', order: 'A' });
      await publish('FairTurn', ['ft5'], { tenant: 'a', order: 'B' });
      for (const [n, order] of ['C', 'D', 'E'].entries())
        await publish('FairTurn', [`ft${6 + n}`], { tenant: 'b', order });
      const first = [...(await claim('fair_turn', 1)), ...(await claim('fair_turn', 1))];
      expect(namesOf(first).sort()).toEqual(['ft1', 'ft6']);
      const second = [...(await claim('fair_turn', 1)), ...(await claim('fair_turn', 1))];
      expect(namesOf(second).sort()).toEqual(['ft5', 'ft7']);
      await complete([...first, ...second]);
    });

    it('and a hidden artifact: it has a key when it is released', async () => {
      await publishHidden('Secret', 'fh1', { tenant: 'b' });
      await publish('Secret', ['fh2', 'fh3', 'fh4', 'fh5', 'fh6', 'fh7'], { tenant: 'a' });
      expect(await claimInOrder('shown', 2)).toEqual(['fh2', 'fh3']);
      expect(await executions('fh1')).toEqual([]);
      clock.advance(MINUTE);
      await areQueued('fh1');
      comesInTurn(await claimInOrder('shown', 5), 'fh1');
    });

    it('and a replay: it shares the turns of live ones with its key, and comes after them', async () => {
      await publish('Original', ['fp1'], { tenant: 'a' });
      await complete(await claim('replayed'));
      await ends('fp1');
      await pause('replayed');
      const replays = [await replay('fp1'), await replay('fp1'), await replay('fp1')];
      await publish('Original', ['fp2', 'fp3'], { tenant: 'a' });
      await publish('Original', ['fp4', 'fp5', 'fp6', 'fp7', 'fp8'], { tenant: 'b' });
      await areQueued(...replays);
      await resume('replayed');
      const order = await claimInOrder('replayed', 10);
      const ofA = ['fp2', 'fp3', ...replays];
      expect(order.filter((name) => ofA.includes(name))).toEqual(ofA);
      expect(order.map((name) => (ofA.includes(name) ? 'a' : 'b')).join('')).not.toMatch(/aaa|bbb/);
    });
  });

  describe('singleton', () => {
    it('and a hidden artifact: it has a turn when it is released', async () => {
      await publishHidden('SecretTurn', 'sh1', { order: 'A' });
      await publish('SecretTurn', ['sh2'], { order: 'A' });
      await started('sh2', 1);
      clock.advance(MINUTE);
      await waitsFor('sh1', /^singleton of turn_shown: 1 of 1 used, 1st of 1 for order A$/);
      expect(gatesOf('sh1')).toEqual([]);
      await works('sh2');
      await works('sh1');
    });

    it('that skips, and a batch window: the whole list is skipped', async () => {
      await publish('SkippedPart', ['sw1', 'sw2'], { order: 'B' });
      await started('sw1', 1);
      await publish('SkippedPart', ['sw3'], { order: 'B' });
      await publish('SkippedPart', ['sw4'], { order: 'C' });
      await ends('sw4');
      expect(await only('sw4')).toMatchObject({ state: 'cancelled', skipped_for: (await only('sw2')).id });
      await ends('sw3');
      gatesOf('sw1')[0]!.open();
      await ends('sw2');
      await publish('SkippedPart', ['sw5', 'sw6'], { order: 'B' });
      await started('sw5', 1);
      gatesOf('sw5')[0]!.open();
      await ends('sw6');
      expect([...gatesOf('sw3'), ...gatesOf('sw4')]).toEqual([]);
    });

    it('and concurrency: both hold, and what waits for its turn uses no place', async () => {
      await publish('Placed', ['sc1', 'sc2', 'sc3'], { order: 'D' });
      await publish('Placed', ['sc4'], { order: 'E' });
      await publish('Placed', ['sc5'], { order: 'F' });
      await started('sc1', 1);
      await started('sc4', 1);
      for (const [name, place] of [
        ['sc2', '1st'],
        ['sc3', '2nd'],
      ] as const)
        await waitsFor(name, new RegExp(`^singleton of turn_places: 1 of 1 used, ${place} of 2 for order D$`));
      await waitsAs('sc5', 'concurrency');
      expect(['sc2', 'sc3', 'sc5'].flatMap(gatesOf)).toEqual([]);
      await works('sc4');
      await started('sc5', 1);
      for (const name of ['sc1', 'sc2', 'sc3', 'sc5']) await works(name);
    });

    it('and max_executions_per_correlation: what is skipped counts', async () => {
      const states = async () => (await executions('sm1')).map(({ state }) => state).sort();
      await publish('Skipped', Array(MOST_EXECUTIONS).fill('sm1') as string[], { order: 'B' });
      await started('sm1', 1);
      expect(await states()).toEqual(['cancelled', 'cancelled', 'running']);
      await publish('Skipped', ['sm1'], { order: 'C' });
      expect(await states()).toHaveLength(MOST_EXECUTIONS);
      const errors = await pairs.board.artifacts('sm1', { type: 'WorkflowError' });
      expect(errors).toMatchObject([{ payload: { error_type: 'limit' } }]);
      gatesOf('sm1')[0]!.open();
      await ends('sm1');
      expect(await states()).toEqual(['cancelled', 'cancelled', 'completed']);
    });
  });

  describe('max_executions_per_correlation', () => {
    const isFull = async (name: string, type: string, payload: object): Promise<void> => {
      expect(await executions(name)).toHaveLength(MOST_EXECUTIONS);
      await publish(type, [name], payload);
      expect(await executions(name)).toHaveLength(MOST_EXECUTIONS);
      const errors = await pairs.board.artifacts(name, { type: 'WorkflowError' });
      expect(errors).toMatchObject([{ payload: { error_type: 'limit' } }]);
    };

    it('and cancel_on: what is cancelled counts', async () => {
      for (const order of ['mo1', 'mo2', 'mo3']) await publish('CountedOff', ['mo'], { order });
      for (const order of ['mo1', 'mo2']) await callOff(order);
      await isFull('mo', 'CountedOff', { order: 'mo4' });
      await callOff('mo3');
    });

    it('and cache: an execution that takes an answer counts', async () => {
      await publish('CountedCache', ['mc0'], { text: 'known' });
      await works('mc0');
      await pause('counted_cache');
      await publish('CountedCache', ['mc', 'mc', 'mc'], { text: 'known' });
      await isFull('mc', 'CountedCache', { text: 'known' });
      await resume('counted_cache');
      await pairs.board.ended('mc');
      expect((await executions('mc')).filter(({ cached_from: from }) => from !== undefined)).toHaveLength(
        MOST_EXECUTIONS,
      );
    });

    it('and retries: an execution counts once', async () => {
      await publish('CountedAgain', ['mr']);
      await failsOnce('mr');
      for (const n of [2, 3]) {
        await publish('CountedAgain', ['mr'], { n });
        await started('mr', n);
        gatesOf('mr').at(-1)!.open();
      }
      clock.advance(RETRY);
      await started('mr', 4);
      await isFull('mr', 'CountedAgain', { n: 5 });
      gatesOf('mr').at(-1)!.open();
      await pairs.board.ended('mr');
      expect((await executions('mr')).map(({ state }) => state)).toEqual(Array(MOST_EXECUTIONS).fill('completed'));
    });
  });
});

import { existsSync } from 'node:fs';

import { Injectable, Module } from '@nestjs/common';

import { Agent, type AgentArtifact } from '../../src/index.js';
import { type JsonObject, startTestKit, type TestKit, type TestKitOptions } from '../../src/testing/testing.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';

const NOW = '2026-11-20T10:00:00.000Z';

/** Every kind of agent that needs no server, and what waits for a time or a person. */
const SHOP = `
server: { webhook_url: 'http://127.0.0.1:9/hook' }
types:
  Inquiry: { schema: { type: object, required: [product], properties: { product: { type: string } } } }
  Approval: { schema: { type: object, required: [approved], properties: { approved: { type: boolean } } } }
agents:
  quoter:
    consumes: [{ types: [Inquiry] }]
    publishes: [{ type: Quote }]
    retry: { attempts: 3, delay: 10s }
    engine: { kind: function, module: ./quoter.ts }
  storekeeper:
    consumes: [{ types: [Inquiry] }]
    publishes: [{ type: Stock }]
    engine: { kind: http, url: 'http://127.0.0.1:9/stock' }
  clerk:
    consumes: [{ types: [Quote, Stock], where: payload.Stock.days < 30 }]
    publishes: [{ type: Offer }]
    engine: { kind: expression, expression: "{'total': payload.Quote.total, 'days': payload.Stock.days}" }
  approver:
    consumes: [{ types: [Offer], where: payload.total > 100.0 }]
    publishes: [{ type: Approval }]
    engine: { kind: external, assignee: anna, due: { after: 48h, then: escalate, to: head-of-sales } }
`;

const QUOTER = `
import type { AgentArtifact } from 'starling-agents';
const prices: Record<string, number> = { Lamp: 39.5, Chair: 120 };
export default async ([inquiry]: AgentArtifact[]) => {
  const total = prices[inquiry!.payload.product as string];
  if (total === undefined) throw new Error('there is no price for ' + inquiry!.payload.product);
  return { total };
};
`;

describe('the test kit', () => {
  const folder = new ConfigurationFolder();
  let file: string;
  const kits: TestKit[] = [];

  beforeAll(() => {
    folder.write('quoter.ts', QUOTER);
    file = folder.write('starling.yaml', SHOP);
  });
  afterEach(async () => {
    for (const kit of kits.splice(0)) await kit.close();
  });
  afterAll(() => folder.remove());

  async function start(
    configuration: string | URL | JsonObject = file,
    options: TestKitOptions = { answers: { storekeeper: { days: 2 } }, now: NOW },
  ): Promise<TestKit> {
    const kit = await startTestKit(configuration, options);
    kits.push(kit);
    return kit;
  }

  it('runs a cascade with its own agents, and with answers instead of a server', async () => {
    const kit = await start();
    const run = await kit.publish('Inquiry', { product: 'Lamp' }, { tags: ['shop'], correlation_id: 'case-1' });
    expect(run).toMatchObject({ correlationId: 'case-1', state: 'completed', errors: [], waiting: [] });
    expect(run.first<{ total: number }>('Offer').payload).toEqual({ total: 39.5, days: 2 });
    expect(run.artifacts.map(({ type, created_at }) => [type, created_at]).sort()).toEqual([
      ['Offer', NOW],
      ['Quote', NOW],
      ['Stock', NOW],
    ]);
  });

  it('gives answers the inputs, and replaces an agent while it runs', async () => {
    const kit = await start();
    const seen: unknown[] = [];
    kit.answer('storekeeper', async ([inquiry]: AgentArtifact[]) => {
      seen.push(inquiry!.payload);
      return { days: 40 };
    });
    const run = await kit.publish('Inquiry', { product: 'Chair' });
    expect(seen).toEqual([{ product: 'Chair' }]);
    expect(run.all('Offer')).toEqual([]);
    kit.answer('storekeeper', { days: 3 });
    expect((await kit.publish('Inquiry', { product: 'Chair' })).first('Offer').payload).toEqual({
      total: 120,
      days: 3,
    });
  });

  it('waits with retries until the clock is moved, and says so', async () => {
    const kit = await start();
    const run = await kit.publish('Inquiry', { product: 'Sofa' });
    expect(run).toMatchObject({ state: 'active', errors: [] });
    expect(() => run.first('Offer')).toThrow(
      /^no Offer was published, only Stock; clerk: join; quoter: retry until 2026-11-20T10:00:(?:0[789]|1[0-3]).\d{3}Z$/,
    );
    await kit.advance('7s');
    expect(run.state).toBe('active');
    await kit.advance('1h');
    expect(kit.now).toBe('2026-11-20T11:00:07.000Z');
    expect(run.errors).toMatchObject([
      { failed_agent: 'quoter', error_message: 'there is no price for Sofa', attempts: 3 },
    ]);
    // Each attempt ran at its time, and not at the end.
    const { items } = (await (await fetch(`${kit.url}/api/v1/executions?agent=quoter`)).json()) as {
      items: { ended_at: string }[];
    };
    expect(items.map(({ ended_at }) => Date.parse(ended_at) - Date.parse(NOW) < 120_000)).toEqual([true]);
  });

  it('leaves external work to the test, and escalates it at its due time', async () => {
    const kit = await start();
    const run = await kit.publish('Inquiry', { product: 'Chair' });
    expect(run.waiting).toMatchObject([{ kind: 'unclaimed', agent: 'approver', assignee: 'anna' }]);
    await expect(kit.claim('approver', { assignee: 'head-of-sales' })).rejects.toThrow(
      'no execution of approver for head-of-sales waits to be claimed',
    );
    await kit.advance('48h');
    const work = await kit.claim('approver', { assignee: 'head-of-sales' });
    expect(work.inputs[0]!.payload).toEqual({ total: 120, days: 2 });
    await expect(kit.complete(work, { approved: 'yes' })).rejects.toThrow('approved: must be boolean');
    await kit.complete(work, { approved: true });
    expect(run.first('Approval').payload).toEqual({ approved: true });
    expect(run.state).toBe('completed');
    await expect(kit.claim('approver')).rejects.toThrow('no execution of approver waits to be claimed');
  });

  it('completes and fails the oldest work of an agent by its name', async () => {
    const kit = await start();
    const first = await kit.publish('Inquiry', { product: 'Chair' });
    const second = await kit.publish('Inquiry', { product: 'Chair' });
    await kit.complete('approver', { approved: false });
    await kit.fail('approver', 'Anna is ill', { final: true });
    expect(first.first('Approval').payload).toEqual({ approved: false });
    expect(second.errors).toMatchObject([{ failed_agent: 'approver', error_message: 'Anna is ill' }]);
  });

  it('answers for external agents, no matter to whom they are assigned', async () => {
    const kit = await start();
    kit.answer('approver', ([offer]) => {
      if (offer!.payload.days === 2) throw new Error('too soon');
      return { approved: true };
    });
    const soon = await kit.publish('Inquiry', { product: 'Chair' });
    await kit.advance('10m');
    expect(soon.errors).toMatchObject([{ failed_agent: 'approver', error_message: 'too soon' }]);
    kit.answer('storekeeper', { days: 5 });
    expect((await kit.publish('Inquiry', { product: 'Chair' })).first('Approval').payload).toEqual({ approved: true });
    kit.answer('approver', { approved: 'perhaps' });
    await expect(kit.publish('Inquiry', { product: 'Chair' })).rejects.toThrow('approved: must be boolean');
  });

  it('runs one agent with its cascade', async () => {
    const kit = await start();
    expect((await kit.run('quoter', { product: 'Lamp' })).first('Quote').payload).toEqual({ total: 39.5 });
  });

  it('takes a configuration as an object, with agents that are classes', async () => {
    @Injectable()
    class Greetings {
      readonly word = 'Hello';
    }
    @Module({ providers: [Greetings], exports: [Greetings] })
    class GreetingsModule {}
    @Agent({ name: 'greeter', consumes: [{ types: ['Visitor'] }], publishes: [{ type: 'Greeting' }] })
    class Greeter {
      constructor(private readonly greetings: Greetings) {}

      execute([visitor]: AgentArtifact[]) {
        return { text: `${this.greetings.word} ${String(visitor!.payload.name)}` };
      }
    }
    const kit = await start({ types: { Visitor: {} } }, { agents: [Greeter], imports: [GreetingsModule] });
    expect((await kit.publish('Visitor', { name: 'Ada' })).first('Greeting').payload).toEqual({ text: 'Hello Ada' });
  });

  it('ends a hidden artifact and a batch window at their times', async () => {
    const kit = await start(
      {
        agents: {
          digest: {
            consumes: [{ types: ['Note'], batch: { size: 10, timeout: '5m' } }],
            publishes: [{ type: 'Digest' }],
            engine: { kind: 'expression', expression: "{'notes': size(payload)}" },
          },
        },
      },
      { now: NOW },
    );
    const visibility = { kind: 'After', ttl: 'PT1H' } as const;
    const run = await kit.publish('Note', { text: 'a' }, { visibility });
    await kit.advance('PT1H4M');
    expect(run.all('Digest')).toEqual([]);
    await kit.advance('1m');
    expect(run.first('Digest').payload).toEqual({ notes: 1 });
  });

  it('runs agents with their own options, or with the variants that the test chooses, whatever their shares', async () => {
    const configuration = {
      agents: {
        router: {
          consumes: [{ types: ['Ticket'] }],
          publishes: [{ type: 'Route' }],
          engine: { kind: 'expression', expression: "{'by': 'base'}" },
          variants: {
            one: { share: '50%', expression: "{'by': 'one'}" },
            two: { share: '50%', expression: "{'by': 'two'}" },
          },
        },
      },
    };
    const routesOf = async (options: TestKitOptions): Promise<unknown[]> => {
      const kit = await start(configuration, options);
      const routes: unknown[] = [];
      for (let n = 0; n < 5; n += 1) routes.push((await kit.publish('Ticket', {})).first('Route').payload.by);
      return routes;
    };
    expect(await routesOf({})).toEqual(Array(5).fill('base'));
    expect(await routesOf({ variants: { router: 'two' } })).toEqual(Array(5).fill('two'));
  });

  it('keeps two kits apart, and leaves nothing behind', async () => {
    process.env.STARLING_DATABASE_URL = 'sqlite:must-not-exist.db';
    try {
      await using one = await startTestKit(file, { answers: { storekeeper: { days: 2 } } });
      await using other = await startTestKit(file, { answers: { storekeeper: { days: 9 } } });
      const [first, second] = await Promise.all([one, other].map((kit) => kit.publish('Inquiry', { product: 'Lamp' })));
      expect([first!, second!].map((run) => run.first('Offer').payload.days)).toEqual([2, 9]);
    } finally {
      delete process.env.STARLING_DATABASE_URL;
    }
    expect(existsSync('must-not-exist.db')).toBe(false);
  });

  describe('says what is wrong', () => {
    it.each<[string, (kit: TestKit) => Promise<unknown> | unknown, string]>([
      ['an unknown type', (kit) => kit.publish('Inquiri', {}), 'did you mean Inquiry?'],
      ['a payload that the schema refuses', (kit) => kit.publish('Inquiry', {}), 'payload.product: is required'],
      ['an unknown agent', async (kit) => kit.answer('quotr', null), 'no agent quotr; did you mean quoter?'],
      ['an unknown agent of a claim', (kit) => kit.claim('missing'), 'no agent missing; it has quoter, storekeeper'],
      ['a claim of an agent that is not external', (kit) => kit.claim('quoter'), 'the agent quoter is not external'],
      ['a wrong duration', (kit) => kit.advance('2 days'), 'must be a duration such as 500ms'],
      ['a negative duration', (kit) => kit.advance(-1), 'must be a duration such as 500ms'],
    ])('%s', async (_, call, message) => {
      const kit = await start();
      await expect((async () => call(kit))()).rejects.toThrow(message);
    });

    it('a wrong configuration, with its place', async () => {
      await expect(startTestKit({ agents: { a: { engine: { kind: 'expresion' } } } })).rejects.toThrow('agents.a');
      await expect(startTestKit(folder.path + '/none.yaml')).rejects.toThrow('the file does not exist');
      await expect(startTestKit(file, { answers: { clark: null } })).rejects.toThrow('did you mean clerk?');
      await expect(startTestKit(file, { variants: { clark: 'new' } })).rejects.toThrow('did you mean clerk?');
      await expect(startTestKit(file, { variants: { clerk: 'new' } })).rejects.toThrow(
        'clerk has no variant new; it has none',
      );
      await expect(startTestKit(file, { now: 'noon' })).rejects.toThrow('now: must be a Date or a time');
    });

    it('an agent that does not end', async () => {
      const kit = await start(file, { answers: { storekeeper: () => new Promise(() => undefined) }, patience: 300 });
      await expect(kit.publish('Inquiry', { product: 'Lamp' })).rejects.toThrow(
        // On a busy machine the quoter may still run, too.
        /after 300 ms, this still runs: .*storekeeper/,
      );
    });
  });
});

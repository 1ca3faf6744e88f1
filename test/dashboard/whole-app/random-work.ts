// Work of all kinds for a service: some of it ends, and some waits for each thing that work can wait for.
import type { components } from '../../../dashboard/src/api/schema.js';
import type { TestApp, TestAppOptions } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import type { Random } from '../../support/random.js';
import { answers, type Receiver } from '../../support/receiver.js';

export type Schemas = components['schemas'];

const CONFIG = `
types:
  Order: {}
agents:
  splitter:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Item }]
    engine: { kind: function, module: ./splitter.ts }
  maker:
    consumes: [{ types: [Item] }]
    publishes: [{ type: Part }]
    retry: { attempts: 3, delay: 5ms }
    engine: { kind: function, module: ./maker.ts }
  assembler:
    consumes: [{ types: [Order, Part], join: { by: string(payload.key), within: 1h } }]
    publishes: [{ type: Product }]
    engine: { kind: expression, expression: '{"key": payload.Order.key}' }
  packer:
    consumes: [{ types: [Part], batch: { size: 4, timeout: 1h } }]
    publishes: [{ type: Parcel }]
    engine: { kind: expression, expression: '{}' }
  inspector:
    consumes: [{ types: [Product], where: int(payload.key) % 3 == 0 }]
    publishes: [{ type: Report }]
    timeout: 1h
    engine: { kind: external }
  watcher:
    consumes: [{ types: [WorkflowError] }]
    publishes: [{ type: Note }]
    engine: { kind: expression, expression: '{}' }
  clerk:
    consumes: [{ types: [Product], where: int(payload.key) % 5 == 0 }]
    engine: { kind: expression, expression: '{}' }
  courier:
    consumes: [{ types: [Product], where: int(payload.key) % 2 == 0 }]
    retry: { attempts: 2, delay: 1h }
    engine: { kind: function, module: ./courier.ts }
  weigher:
    consumes: [{ types: [Load] }]
    publishes: [{ type: Weight }]
    retry: { attempts: 3, delay: 5ms }
    engine: { kind: function, module: ./maker.ts }
  furnace:
    consumes: [{ types: [Ore] }]
    concurrency: 1
    timeout: 1h
    engine: { kind: function, module: ./furnace.ts }
`;

const FILES = {
  'splitter.ts': `export default ([{ payload }]) => payload.items;`,
  'maker.ts': `export default ([{ payload: { key, fails } }], { attempt }) => {
    if (attempt <= fails) throw new Error(\`attempt \${attempt} of part \${key} failed\`);
    return { key };
  };`,
  'courier.ts': `export default () => { throw new Error('the road is closed'); };`,
  'furnace.ts': `export default (_inputs, { signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`,
};

export const WORK: TestAppOptions = {
  config: CONFIG,
  files: FILES,
  settings: { outboundAllow: ['127.0.0.1/32'], webhookRetries: [3_600_000] },
};

/** Their executions do not end by themselves. */
const WAITING_AGENTS = ['inspector', 'clerk', 'courier', 'furnace'];

const PUBLISHES = 22;
const CORRELATIONS = 8;
const BATCH_ITEMS = 12;
const TAGS = ['red', 'green', 'blue'];

export class RandomWork {
  constructor(
    private readonly app: () => TestApp,
    private readonly receiver: () => Receiver,
  ) {}

  async get<T>(path: string): Promise<T> {
    return (await this.app().http.get(path).expect(200)).body as T;
  }

  async executions(query = ''): Promise<Schemas['ListedExecutionBody'][]> {
    return (await this.get<Schemas['ExecutionListBody']>(`/api/v1/executions?limit=500&${query}`)).items;
  }

  async correlations(query = ''): Promise<Schemas['CorrelationListBody']['items']> {
    return (await this.get<Schemas['CorrelationListBody']>(`/api/v1/correlations?limit=100&${query}`)).items;
  }

  /** Returns the id of the batch. */
  async run(random: Random): Promise<string> {
    const { http } = this.app();
    this.receiver().on('/down', answers(503));
    this.receiver().on('/gone', answers(410));
    await http.post('/api/v1/agents/clerk/pause').expect(200);
    await this.publishAll(random);
    for (const ttl of [undefined, undefined, 'PT1H'])
      await this.publish('ore', { type: 'Ore', ...(ttl && { visibility: { kind: 'After', ttl } }) });
    const batch_inputs = Array.from({ length: BATCH_ITEMS }, (_, key) => ({ key, fails: random.between(0, 4) }));
    const started = await http.post('/run/batch').send({ agent_name: 'weigher', batch_inputs }).expect(200);
    const { batch_id: batch } = started.body as { batch_id: string };
    await this.settles(batch);
    await this.actByHand(random);
    await this.settles(batch);
    return batch;
  }

  private publish(correlation: string, body: object): Promise<unknown> {
    return this.app().http.post('/api/v1/artifacts').set('X-Correlation-ID', correlation).send(body).expect(200);
  }

  private order(correlation: string, random: Random): Promise<unknown> {
    const key = random.between(0, 12);
    const items = Array.from({ length: random.between(0, 3) }, () => ({ key, fails: random.between(0, 3) }));
    const tags = TAGS.filter(() => random.next() < 0.3);
    const path = ['/fine', '/down', '/gone'][random.between(0, 8)];
    const webhook = path === undefined ? {} : { webhook: { url: this.receiver().url(path) } };
    return this.publish(correlation, { type: 'Order', payload: { key, items }, tags, ...webhook });
  }

  private async publishAll(random: Random): Promise<void> {
    await this.order('order-1', random);
    for (let done = 1; done < PUBLISHES;) {
      const together = Math.min(PUBLISHES - done, random.between(1, 5));
      done += together;
      await Promise.all(
        Array.from({ length: together }, () => this.order(`order-${random.between(1, CORRELATIONS)}`, random)),
      );
    }
  }

  /** A person claims some work, a correlation is cancelled, and a failed execution is retried. */
  private async actByHand(random: Random): Promise<void> {
    const { http } = this.app();
    for (const { id } of await this.executions('external=true'))
      if (random.next() < 0.5)
        await http.post(`/api/v1/executions/${id}/claim`).send({ claimed_by: 'ada' }).expect(200);
    const failed = await this.executions('state=failed&agent=maker');
    const retried = failed[0];
    if (retried) await http.post(`/api/v1/executions/${retried.id}/retry`).expect(200);
    const [cancelled] = (await this.correlations('state=active&id_prefix=order-')).filter(
      ({ correlation_id: id }) => id !== 'order-1' && id !== retried?.correlation_id,
    );
    if (cancelled) await http.post(`/api/v1/correlations/${cancelled.correlation_id}/cancel`).expect(200);
  }

  private settles(batch: string): Promise<unknown> {
    return eventually('all has ended that ends by itself', async () => {
      const [running, pending, { status }] = await Promise.all([
        this.executions('state=running'),
        this.executions('state=pending'),
        this.get<{ status: string }>(`/batch/${batch}`),
      ]);
      const isDone = ({ agent, next_attempt_at: next }: Schemas['ListedExecutionBody']): boolean =>
        WAITING_AGENTS.includes(agent) && (agent !== 'courier' || next !== null);
      const left = [...running, ...pending]
        .filter((one) => !isDone(one))
        .map(({ agent, state }) => `${state} ${agent}`);
      expect([status, left]).toEqual(['completed', []]);
      return true;
    });
  }
}

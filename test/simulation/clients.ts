import { ChangedLimits } from '../../src/blackboard/limits/changed-limits.js';
import { Schedules } from '../../src/blackboard/schedules/schedules.js';
import type { LimitValues } from '../../src/catalog/limits.js';
import type { HeldRequest } from '../../src/common/held-request.js';
import { newId } from '../../src/common/ids.js';
import type { JsonObject } from '../../src/common/json.js';
import { scheduler } from '../../src/common/scheduler.js';
import type { ReplayMode } from '../../src/database/schema.js';
import { AgentsService } from '../../src/features/agents/agents.service.js';
import type { PublishRequest } from '../../src/features/artifacts/dto/publish-request.js';
import { PublishingService } from '../../src/features/artifacts/publishing.service.js';
import { BatchCreationService } from '../../src/features/batches/batch-creation.service.js';
import type { ListedItems } from '../../src/features/batches/import/list-body.js';
import { CorrelationsService } from '../../src/features/correlations/correlations.service.js';
import { IdempotencyService } from '../../src/features/idempotency/idempotency.service.js';
import { requestHash } from '../../src/features/idempotency/idempotent-request.js';
import type { RequestIds } from '../../src/features/idempotency/request-ids.js';
import { OperationsService } from '../../src/features/operations/operations.service.js';
import { RunsService } from '../../src/features/runs/runs.service.js';
import { Ledger, type Order } from '../faults/ledger.js';
import type { Random } from '../support/random.js';
import { FLOW_TYPES, WEIGHTS } from './flow-agents.js';
import { Flows } from './flows.js';
import type { Operation } from './operations.js';
import { Repeats } from './repeats.js';
import { Requests } from './requests.js';
import type { SimulatedService } from './simulated-service.js';

const HELD: HeldRequest = { bytes: 0, waits: () => undefined, releaseBody: () => undefined };

/** Clients that call the service's own services, over a network that takes time. They outlive its crashes. */
export class Clients {
  readonly ledger = new Ledger();
  /** The type of the artifact that must follow, once, from each accepted publish or run, by its correlation. */
  readonly accepted = new Map<string, string>();
  readonly flows = new Flows();
  /** The numbers of acknowledged topics. */
  readonly acceptedTopics = new Set<number>();
  readonly repeats: Repeats;
  /** The names of acknowledged schedules. */
  readonly schedules = new Set<string>();
  private readonly paused = new Set<string>();
  private readonly requests: Requests;
  private count = 0;

  constructor(
    random: Random,
    private readonly service: () => SimulatedService,
    onUnexpected: (error: unknown) => void,
  ) {
    this.requests = new Requests(random, onUnexpected);
    this.repeats = new Repeats(this.requests, service);
  }

  /** Requests without an answer, and agents that have to be resumed. */
  get waiting(): number {
    return this.requests.open + this.paused.size;
  }

  /** True if any agent may be paused. */
  get isPausing(): boolean {
    return this.paused.size > 0;
  }

  order(isKeyed: boolean, hasWebhook: boolean): void {
    const order = this.ledger.next(isKeyed);
    this.ledger.begin(order);
    this.requests.begin({
      send: () => (isKeyed ? this.publishWithKey(order, hasWebhook) : this.publishOrder(order, hasWebhook)),
      answered: () => this.ledger.acknowledge(order),
      isRepeated: isKeyed,
    });
  }

  /** Publishes the two sides of a join, in two correlations. */
  pair(): void {
    const n = this.next();
    for (const type of ['Left', 'Right'])
      this.requests.begin({
        send: () => this.publish(type, { n }, this.newIds(`${type}-${n}`)),
        answered: () => undefined,
        isRepeated: false,
      });
  }

  nap(ms: number, cancelAfter: number): void {
    const n = this.next();
    this.requests.begin({
      send: () => this.publish('Nap', { n, ms }, this.newIds(`nap-${n}`)),
      answered: () => {
        scheduler.after(cancelAfter, () => {
          this.requests.begin({
            send: () => this.service().get(CorrelationsService).cancel(`nap-${n}`),
            answered: () => undefined,
            isRepeated: false,
          });
        });
      },
      isRepeated: false,
    });
  }

  /** Publishes a nap that is cancelled if it lasts longer than its deadline. */
  deadline(ms: number, deadline: number): void {
    const n = this.next();
    this.requests.begin({
      send: () =>
        this.service()
          .get(PublishingService)
          .publish({ type: 'Nap', payload: { n, ms }, deadline: `${deadline}ms` }, this.newIds(`nap-${n}`)),
      answered: () => undefined,
      isRepeated: false,
    });
  }

  /** Creates a schedule that ticks so often, at this distance. */
  schedule(seconds: number, ticks: number): void {
    const name = `schedule-${this.next()}`;
    const publishes = { type: 'Trip', payload: { n: this.next() } };
    this.requests.begin({
      send: () =>
        this.service()
          .get(Schedules)
          .create(name, {
            every: `${seconds}s`,
            until: new Date(scheduler.time() + seconds * ticks * 1_000).toISOString(),
            publishes,
            overlap: 'allow',
            missed: 'run_all',
          }),
      answered: () => this.schedules.add(name),
      isRepeated: false,
    });
  }

  run(): void {
    const n = this.next();
    const ids = this.newIds(`run-${n}`);
    const request = { agent_name: 'clerk', inputs: { n }, async_run: true };
    this.requests.begin({
      send: () => this.service().get(RunsService).start(request, ids, HELD),
      answered: () => this.accepted.set(ids.correlationId, 'Done'),
      isRepeated: false,
    });
  }

  trip(): void {
    this.publishAccepted('Trip', 'Arrival');
  }

  plea(): void {
    this.publishAccepted('Plea', 'Approval');
  }

  leap(): void {
    this.publishAccepted('Leap', 'Landing');
  }

  /** Publishes work for an agent whose rules see the key. */
  flow(agent: string, key: string): void {
    const n = this.next();
    const ids = FLOW_TYPES[agent]!.length === 1 ? this.newIds(`flow-${n}`) : this.ids(`flow-${n}`);
    this.flows.begin(ids.correlationId, agent, { n, key });
    const open = new Set(FLOW_TYPES[agent]!);
    for (const type of FLOW_TYPES[agent]!)
      this.requests.begin({
        send: () => this.publish(type, { n, key, weight: WEIGHTS[key]! }, { ...ids, madeId: newId() }),
        answered: () => {
          open.delete(type);
          if (open.size === 0) this.flows.acknowledged.add(ids.correlationId);
        },
        isRepeated: false,
      });
  }

  recall(key: string): void {
    const n = this.next();
    this.requests.begin({
      send: () => this.publish('Recall', { n, key }, this.newIds(`recall-${n}`)),
      answered: () => undefined,
      isRepeated: false,
    });
  }

  /** Sets values for a limit. With null, those of the configuration hold again. */
  changeLimit(name: string, values: LimitValues | null): void {
    const limits = (): ChangedLimits => this.service().get(ChangedLimits);
    this.requests.begin({
      send: () => (values === null ? limits().reset(name) : limits().set(name, values)),
      answered: () => undefined,
      isRepeated: false,
    });
  }

  /** Retries every leap that has failed. */
  retryAll(): void {
    this.requests.begin({
      send: () => this.service().get(OperationsService).retry(newId(), { agent: 'leaper' }),
      answered: () => undefined,
      isRepeated: false,
    });
  }

  /** Publishes so many topics into one correlation. */
  topics(count: number): void {
    const correlation = `Topic-${this.next()}`;
    for (let index = 0; index < count; index += 1) {
      const n = this.next();
      this.requests.begin({
        send: () => this.publish('Topic', { n }, this.ids(correlation)),
        answered: () => this.acceptedTopics.add(n),
        isRepeated: false,
      });
    }
  }

  /** Does nothing while the agent is paused, because the answer to the first resumption would end this pause for the clients. */
  pause(agent: string, ms: number): void {
    if (this.paused.has(agent)) return;
    this.paused.add(agent);
    this.requests.begin({
      send: () => this.service().get(AgentsService).pause(agent),
      answered: () => scheduler.after(ms, () => this.resume(agent)),
      // A full disk refuses it.
      refused: () => this.paused.delete(agent),
      isRepeated: false,
    });
  }

  /** Does nothing while no correlation is known that could be replayed. */
  replay(pick: number, mode: ReplayMode, cancelAfter: number | null): void {
    const [origin] = rotated([...this.orders, ...this.acceptedWith('Arrival'), ...this.acceptedWith('Done')], pick);
    if (origin !== undefined) this.repeats.replay(origin, mode, cancelAfter);
  }

  experiment({ tried, pick, rows, mode, cancelAfter }: Extract<Operation, { kind: 'experiment' }>): void {
    const known = tried === 'Order' ? this.orders : this.acceptedWith('Arrival');
    const correlations = rotated(known, pick).slice(0, rows);
    if (correlations.length > 0) this.repeats.experiment(tried, correlations, mode, cancelAfter);
  }

  batch(rows: number): void {
    const items = Array.from({ length: rows }, () => JSON.stringify({ n: this.next() }));
    const id = newId();
    const request = { agent_name: 'clerk', max_workers: 3 };
    this.requests.begin({
      send: () =>
        this.service()
          .get(BatchCreationService)
          .create(request, id, { items: listed(items) }),
      answered: () => undefined,
      isRepeated: false,
    });
  }

  /** Requests that were under way get no answer. Those that may be repeated are sent again. */
  crashed(): void {
    this.requests.crashed();
    for (const agent of this.paused) this.resume(agent);
  }

  private get orders(): string[] {
    return [...this.ledger.acknowledged.keys()];
  }

  private acceptedWith(result: string): string[] {
    return [...this.accepted].filter(([, type]) => type === result).map(([id]) => id);
  }

  private resume(agent: string): void {
    this.requests.begin({
      send: () => this.service().get(AgentsService).resume(agent),
      answered: () => this.paused.delete(agent),
      isRepeated: true,
    });
  }

  private publishAccepted(type: string, result: string): void {
    const n = this.next();
    const ids = this.newIds(`${type}-${n}`);
    this.requests.begin({
      send: () => this.publish(type, { n }, ids),
      answered: () => this.accepted.set(ids.correlationId, result),
      isRepeated: false,
    });
  }

  private publishWithKey(order: Order, hasWebhook: boolean): Promise<unknown> {
    const body = bodyOf(order, hasWebhook);
    const request = {
      endpoint: 'POST /api/v1/artifacts/sync',
      key: order.key!,
      hash: requestHash(body as unknown as JsonObject),
      newIds: () => this.ids(order.correlationId),
      heldBytes: 0,
      waits: () => undefined,
      releaseBody: () => undefined,
    };
    return this.service()
      .get(IdempotencyService)
      .answer(request, (ids) => this.service().get(PublishingService).publishAndWait(body, ids, HELD));
  }

  private publishOrder(order: Order, hasWebhook: boolean): Promise<unknown> {
    return this.send(bodyOf(order, hasWebhook), order.n, this.ids(order.correlationId));
  }

  private publish(type: string, payload: JsonObject & { n: number }, ids: RequestIds): Promise<unknown> {
    return this.send({ type, payload }, payload.n, ids);
  }

  /** Half of the clients wait for what follows. */
  private send(body: PublishRequest, n: number, ids: RequestIds): Promise<unknown> {
    const publishing = this.service().get(PublishingService);
    return n % 2 === 0 ? publishing.publish(body, ids) : publishing.publishAndWait({ ...body, timeout: 1 }, ids, HELD);
  }

  private ids(correlationId: string): RequestIds {
    return { madeId: newId(), correlationId };
  }

  /** As if the service had made the id for this request. */
  private newIds(correlationId: string): RequestIds {
    return { ...this.ids(correlationId), isNewCorrelation: true };
  }

  private next(): number {
    this.count += 1;
    return 1_000_000 + this.count;
  }
}

/** Begins with one of the values, and continues at the first one. */
function rotated(values: readonly string[], pick: number): string[] {
  const first = values.length === 0 ? 0 : pick % values.length;
  return [...values.slice(first), ...values.slice(0, first)];
}

const bodyOf = ({ n, correlationId }: Order, hasWebhook: boolean): PublishRequest => ({
  type: 'Order',
  payload: { n },
  ...(hasWebhook && { webhook: { url: `http://receiver-${n % 3}.test/${correlationId}` } }),
});

const listed = (items: readonly string[]): ListedItems =>
  ({
    count: items.length,
    bytes: items.join().length,
    digest: null,
    async *parts() {
      yield items.map((item) => Buffer.from(item));
    },
  }) as unknown as ListedItems;

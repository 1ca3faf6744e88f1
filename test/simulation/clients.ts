import type { HeldRequest } from '../../src/common/held-request.js';
import { newId } from '../../src/common/ids.js';
import type { JsonObject } from '../../src/common/json.js';
import { scheduler } from '../../src/common/scheduler.js';
import { AgentsService } from '../../src/features/agents/agents.service.js';
import type { PublishRequest } from '../../src/features/artifacts/dto/publish-request.js';
import { PublishingService } from '../../src/features/artifacts/publishing.service.js';
import { BatchCreationService } from '../../src/features/batches/batch-creation.service.js';
import type { ListedItems } from '../../src/features/batches/import/list-body.js';
import { CorrelationsService } from '../../src/features/correlations/correlations.service.js';
import { IdempotencyService } from '../../src/features/idempotency/idempotency.service.js';
import { requestHash } from '../../src/features/idempotency/idempotent-request.js';
import type { RequestIds } from '../../src/features/idempotency/request-ids.js';
import { RunsService } from '../../src/features/runs/runs.service.js';
import { Ledger, type Order } from '../faults/ledger.js';
import type { Random } from '../support/random.js';
import type { SimulatedService } from './simulated-service.js';

const LATENCY_MS = 5;
const TRY_AGAIN_MS = 1_000;

/** A request that is repeated until it is answered, as one with an idempotency key may be. */
interface Open {
  send: () => Promise<unknown>;
  answered: () => void;
  isRepeated: boolean;
}

const HELD: HeldRequest = { bytes: 0, waits: () => undefined, releaseBody: () => undefined };

/** Clients that call the service's own services, over a network that takes time. They outlive its crashes. */
export class Clients {
  readonly ledger = new Ledger();
  /** The type of the artifact that must follow, once, from each accepted publish or run, by its correlation. */
  readonly accepted = new Map<string, string>();
  private readonly paused = new Set<string>();
  private readonly open = new Set<Open>();
  private count = 0;

  constructor(
    private readonly random: Random,
    private readonly service: () => SimulatedService,
    private readonly onUnexpected: (error: unknown) => void,
  ) {}

  /** Requests without an answer, and agents that have to be resumed. */
  get waiting(): number {
    return this.open.size + this.paused.size;
  }

  order(isKeyed: boolean, hasWebhook: boolean): void {
    const order = this.ledger.next(isKeyed);
    this.ledger.begin(order);
    this.begin({
      send: () => (isKeyed ? this.publishWithKey(order, hasWebhook) : this.publishOrder(order, hasWebhook)),
      answered: () => this.ledger.acknowledge(order),
      isRepeated: isKeyed,
    });
  }

  /** Publishes the two sides of a join, in two correlations. */
  pair(): void {
    const n = this.next();
    for (const type of ['Left', 'Right'])
      this.begin({
        send: () => this.publish(type, { n }, this.ids(`${type}-${n}`)),
        answered: () => undefined,
        isRepeated: false,
      });
  }

  nap(ms: number, cancelAfter: number): void {
    const n = this.next();
    this.begin({
      send: () => this.publish('Nap', { n, ms }, this.ids(`nap-${n}`)),
      answered: () => {
        scheduler.after(cancelAfter, () => {
          this.begin({
            send: () => this.service().get(CorrelationsService).cancel(`nap-${n}`),
            answered: () => undefined,
            isRepeated: false,
          });
        });
      },
      isRepeated: false,
    });
  }

  run(): void {
    const n = this.next();
    const ids = this.ids(`run-${n}`);
    const request = { agent_name: 'clerk', inputs: { n }, async_run: true };
    this.begin({
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

  pause(agent: string, ms: number): void {
    this.paused.add(agent);
    this.begin({
      send: () => this.service().get(AgentsService).pause(agent),
      answered: () => scheduler.after(ms, () => this.resume(agent)),
      isRepeated: false,
    });
  }

  batch(rows: number): void {
    const items = Array.from({ length: rows }, () => JSON.stringify({ n: this.next() }));
    const id = newId();
    const request = { agent_name: 'clerk', max_workers: 3 };
    this.begin({
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
    for (const request of this.open)
      if (request.isRepeated) this.send(request);
      else this.open.delete(request);
    for (const agent of this.paused) this.resume(agent);
  }

  private resume(agent: string): void {
    this.begin({
      send: () => this.service().get(AgentsService).resume(agent),
      answered: () => this.paused.delete(agent),
      isRepeated: true,
    });
  }

  private publishAccepted(type: string, result: string): void {
    const n = this.next();
    const ids = this.ids(`${type}-${n}`);
    this.begin({
      send: () => this.publish(type, { n }, ids),
      answered: () => this.accepted.set(ids.correlationId, result),
      isRepeated: false,
    });
  }

  private begin(request: Open): void {
    this.open.add(request);
    this.send(request);
  }

  private send(request: Open): void {
    scheduler.after(this.random.next() * LATENCY_MS, () => {
      request.send().then(
        () => this.afterNetwork(() => this.answered(request)),
        (error: unknown) => this.afterNetwork(() => this.refused(request, error)),
      );
    });
  }

  private afterNetwork(callback: () => void): void {
    scheduler.after(this.random.next() * LATENCY_MS, callback);
  }

  private answered(request: Open): void {
    this.open.delete(request);
    request.answered();
  }

  private refused(request: Open, error: unknown): void {
    const { code } = error as { code?: string };
    if (code === 'unavailable' && request.isRepeated) scheduler.after(TRY_AGAIN_MS, () => this.send(request));
    else {
      this.open.delete(request);
      if (code !== 'unavailable' && code !== 'conflict' && code !== 'not_found') this.onUnexpected(error);
    }
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
    const ids = this.ids(order.correlationId);
    return this.service().get(PublishingService).publish(bodyOf(order, hasWebhook), ids);
  }

  private publish(type: string, payload: JsonObject, ids: RequestIds): Promise<unknown> {
    return this.service().get(PublishingService).publish({ type, payload }, ids);
  }

  private ids(correlationId: string): RequestIds {
    return { madeId: newId(), correlationId };
  }

  private next(): number {
    this.count += 1;
    return 1_000_000 + this.count;
  }
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

import { newId } from '../../src/common/ids.js';
import { scheduler } from '../../src/common/scheduler.js';
import type { ReplayMode } from '../../src/database/schema.js';
import { CorrelationsService } from '../../src/features/correlations/correlations.service.js';
import type { ExperimentRequest } from '../../src/features/experiments/dto/experiment-request.js';
import { ExperimentControlService } from '../../src/features/experiments/experiment-control.service.js';
import { ExperimentCreationService } from '../../src/features/experiments/experiment-creation.service.js';
import { ReplaysService } from '../../src/features/replays/replays.service.js';
import type { Requests } from './requests.js';
import type { SimulatedService } from './simulated-service.js';

/** The artifacts of clients that experiments try again, the output that is scored, and the agent that a variant changes. */
export const TRIED = {
  Order: { output: 'Shipment', changed: 'pricer', expression: '{"n": payload.n, "price": payload.n * 3.0}' },
  Trip: { output: 'Arrival', changed: 'courier', expression: '{"n": payload.n, "again": true}' },
};

/** Clients that replay correlations and try variants on them, and cancel some of this work. */
export class Repeats {
  /** The ids of all replays that were sent. */
  readonly sent = new Set<string>();
  /** The acknowledged replays, by their ids. */
  readonly replays = new Map<string, { origin: string; mode: ReplayMode }>();
  /** The ids of acknowledged experiments. */
  readonly experiments = new Set<string>();

  constructor(
    private readonly requests: Requests,
    private readonly service: () => SimulatedService,
  ) {}

  /** A correlation that is still active is refused. `cancelAfter`: null if the replay may end. */
  replay(origin: string, mode: ReplayMode, cancelAfter: number | null): void {
    const id = newId();
    this.sent.add(id);
    this.requests.begin({
      send: () => this.service().get(ReplaysService).ofCorrelation(origin, { mode }, { madeId: id, correlationId: id }),
      answered: () => {
        this.replays.set(id, { origin, mode });
        this.cancel(cancelAfter, () => this.service().get(CorrelationsService).cancel(id));
      },
      isRepeated: false,
    });
  }

  /** Trials of correlations that are still active have an error. */
  experiment(
    tried: keyof typeof TRIED,
    correlations: readonly string[],
    mode: ReplayMode,
    cancelAfter: number | null,
  ): void {
    const id = newId();
    const { output, changed, expression } = TRIED[tried];
    const request: ExperimentRequest = {
      data: { correlations: [...correlations] },
      output,
      mode,
      variants: [{ name: 'now' }, { name: 'changed', overrides: { [changed]: { expression } } }],
      scorers: [
        { name: 'latency', kind: 'latency' },
        { name: 'judged', kind: 'judge', agent: 'judge' },
      ],
      max_workers: 2,
    };
    this.requests.begin({
      send: () => this.service().get(ExperimentCreationService).create(request, id),
      answered: () => {
        this.experiments.add(id);
        this.cancel(cancelAfter, () => this.service().get(ExperimentControlService).cancel(id));
      },
      isRepeated: false,
    });
  }

  private cancel(after: number | null, send: () => Promise<unknown>): void {
    if (after === null) return;
    scheduler.after(after, () => this.requests.begin({ send, answered: () => undefined, isRepeated: false }));
  }
}

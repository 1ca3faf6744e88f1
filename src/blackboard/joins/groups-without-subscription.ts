import { Injectable } from '@nestjs/common';

import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { findAwaited, type SubscriptionPlace } from '../matching/subscription-rows.js';
import { Processes } from '../processes/processes.js';
import { countGroups } from './join-group-rows.js';

/** Join groups and batch windows that wait for subscriptions that no live process has. */
@Injectable()
export class GroupsWithoutSubscription {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The subscriptions that such groups wait for. The value may be a moment old. */
  readonly subscriptions = throttled(() => this.find());

  /** The number of such groups by agent. The value may be a moment old, because counting many groups is slow. */
  readonly counts = throttled(() => this.count());

  async count(): Promise<ReadonlyMap<string, number>> {
    const places = await this.find();
    if (places.length === 0) return new Map();
    const counts = await countGroups(this.unitOfWork.reader, places);
    return new Map(counts.map(({ agent, count }) => [agent, count]));
  }

  async find(): Promise<readonly SubscriptionPlace[]> {
    const awaited = await findAwaited(this.unitOfWork.reader);
    if (awaited.length === 0) return [];
    const known = await this.processes.known();
    return awaited.filter((place) => !known.hasSubscription(place));
  }
}

import { Injectable } from '@nestjs/common';

import { ChangedLimits, type LimitState } from '../../blackboard/limits/changed-limits.js';
import { type KeyState, type LimitQueue, LimitQueues } from '../../blackboard/limits/limit-queues.js';
import { type LimitValues, valuesOf } from '../../catalog/limits.js';
import { DomainError } from '../../common/domain-error.js';
import { partsOf } from '../../common/page-cursor.js';
import { toTimestamp } from '../../common/timestamp.js';
import { nextPage } from '../../http/dto/page.js';
import type { LimitBody, LimitListBody, LimitValuesBody } from './dto/limit-body.js';
import type { LimitRequest } from './dto/limit-request.js';
import type { LimitKeyBody, LimitKeysBody, LimitKeysQuery } from './dto/waiting-keys.js';

/** Shows and changes limits. Every method throws the DomainErrors of the core. */
@Injectable()
export class LimitsService {
  constructor(
    private readonly limits: ChangedLimits,
    private readonly queues: LimitQueues,
  ) {}

  async list(): Promise<LimitListBody> {
    return { items: (await this.limits.all()).map(limitBody) };
  }

  async get(name: string): Promise<LimitBody> {
    return limitBody(await this.limits.get(name));
  }

  async set(name: string, request: LimitRequest): Promise<LimitBody> {
    const [concurrency, rate, burst] = [
      request.concurrency ?? undefined,
      request.rate ?? undefined,
      request.burst ?? undefined,
    ];
    if (burst !== undefined && rate === undefined)
      throw new DomainError('invalid', 'burst: counts for a rate only; add rate, or remove burst');
    await this.limits.set(name, { concurrency, rate, burst });
    return this.get(name);
  }

  async reset(name: string): Promise<LimitBody> {
    return limitBody(await this.limits.reset(name));
  }

  async keys(name: string, { after, limit }: LimitKeysQuery): Promise<LimitKeysBody> {
    await this.limits.refuseUnknown(name);
    const position = after === undefined ? null : partsOf(after, ['string'])[0];
    const found = await this.queues.keys(name, position, limit + 1);
    const page = found.slice(0, limit);
    const next = found.length > limit ? [page.at(-1)!.text] : null;
    return { items: page.map(keyBody), pagination: nextPage(limit, after, next) };
  }
}

const valuesBody = ({ concurrency, rate, burst }: LimitValues): LimitValuesBody => ({
  concurrency: concurrency ?? null,
  rate: rate ?? null,
  burst: burst ?? null,
});

const limitBody = ({ limit, file, setAt, agents, running, unitsUsed, queue }: LimitState): LimitBody => ({
  name: limit.name,
  ...valuesBody(valuesOf(limit)),
  units: limit.units,
  hold: limit.hold,
  set_at: setAt === null ? null : toTimestamp(setAt),
  file: file && valuesBody(file),
  agents,
  running,
  units_used: unitsUsed,
  ...queueBody(queue),
});

const keyBody = ({ key, running, unitsUsed, roomAt, ...queue }: KeyState): LimitKeyBody => ({
  key: key === null ? null : JSON.stringify(key),
  running,
  units_used: unitsUsed,
  room_at: roomAt === null ? null : toTimestamp(roomAt),
  ...queueBody(queue),
});

const queueBody = ({ waiting, longest }: LimitQueue): Pick<LimitBody, 'waiting' | 'longest'> => ({
  waiting,
  longest: longest && {
    execution_id: longest.id,
    agent: longest.agent,
    correlation_id: longest.correlation_id,
    queued_at: toTimestamp(longest.created_at),
  },
});

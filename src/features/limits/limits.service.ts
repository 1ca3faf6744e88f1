import { Injectable } from '@nestjs/common';

import { ChangedLimits, type LimitState } from '../../blackboard/limits/changed-limits.js';
import { type LimitValues, valuesOf } from '../../catalog/limits.js';
import { DomainError } from '../../common/domain-error.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { LimitBody, LimitListBody, LimitValuesBody } from './dto/limit-body.js';
import type { LimitRequest } from './dto/limit-request.js';

/** Shows and changes limits. Every method throws the DomainErrors of the core. */
@Injectable()
export class LimitsService {
  constructor(private readonly limits: ChangedLimits) {}

  async list(): Promise<LimitListBody> {
    return { items: (await this.limits.all()).map(limitBody) };
  }

  async get(name: string): Promise<LimitBody> {
    return limitBody(await this.limits.get(name));
  }

  async set(name: string, { concurrency, rate, burst }: LimitRequest): Promise<LimitBody> {
    if (burst !== undefined && rate === undefined)
      throw new DomainError('invalid', 'burst: counts for a rate only; add rate, or remove burst');
    await this.limits.set(name, { concurrency, rate, burst });
    return this.get(name);
  }

  async reset(name: string): Promise<LimitBody> {
    await this.limits.reset(name);
    return this.get(name);
  }
}

const valuesBody = ({ concurrency, rate, burst }: LimitValues): LimitValuesBody => ({
  concurrency: concurrency ?? null,
  rate: rate ?? null,
  burst: burst ?? null,
});

const limitBody = ({ limit, file, setAt, running, waiting }: LimitState): LimitBody => ({
  name: limit.name,
  ...valuesBody(valuesOf(limit)),
  units: limit.units,
  set_at: setAt === null ? null : toTimestamp(setAt),
  file: valuesBody(file),
  running,
  waiting,
});

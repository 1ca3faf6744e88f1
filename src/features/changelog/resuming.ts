import { Injectable } from '@nestjs/common';

import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { DomainError } from '../../common/domain-error.js';

const LONGEST_SHOWN = 40;

/** Checks the position from which a reader resumes. */
@Injectable()
export class Resuming {
  constructor(private readonly store: ChangelogStore) {}

  /** Throws DomainError `invalid` if no artifact can have this position. `name` is the parameter or header. */
  async check(name: string, position: number | string): Promise<number> {
    const last = await this.store.lastGiven();
    const number = typeof position === 'string' && !/^\d{1,16}$/.test(position) ? NaN : Number(position);
    if (number >= 0 && number <= last) return number;
    const shown = JSON.stringify(String(position).slice(0, LONGEST_SHOWN));
    throw new DomainError(
      'invalid',
      `${name}: must be the position of an entry, from 0 to ${last} (got ${shown}); without it, a stream begins now`,
    );
  }
}

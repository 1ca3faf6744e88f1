import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { parseKeys } from './key-texts.js';
import { LimitHolders } from './limit-holders.js';
import { findHeldKeys, replaceHeldKeys } from './limit-rows.js';

const MOST_IN_TRANSACTION = 100;

/** The shares that executions hold, although the configuration no longer has `hold` of their limits. */
@Injectable()
export class FormerHolds {
  constructor(
    private readonly holders: LimitHolders,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Forgets them. If `hold` came back, they would hold their limits without another start, and two executions could wait for
   * each other's shares. Limits that this process does not know stay as they are: another process may have them.
   */
  async forget(): Promise<void> {
    const changed = (await findHeldKeys(this.unitOfWork.reader)).flatMap(({ held_keys: heldKeys }) => {
      const keys = parseKeys(heldKeys);
      const kept = keys.filter((key) => this.holders.mayHold(key));
      return kept.length === keys.length ? [] : [{ heldKeys, kept: kept.length === 0 ? null : JSON.stringify(kept) }];
    });
    for (let start = 0; start < changed.length; start += MOST_IN_TRANSACTION)
      await this.unitOfWork.run(async (tx) => {
        for (const each of changed.slice(start, start + MOST_IN_TRANSACTION)) await replaceHeldKeys(tx, each);
      });
  }
}

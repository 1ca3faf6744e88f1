import { Injectable } from '@nestjs/common';
import type { ChangelogFilter } from '../blackboard/queries/changelog-rows.js';

/** What is no longer there for those who resume. */
@Injectable()
export class Gaps {
  /** The last position behind `position` whose artifact was deleted and may have matched; null where there is none. */
  behind(_position: number, _filter: ChangelogFilter): Promise<number | null> {
    // Nothing deletes artifacts so far.
    return Promise.resolve(null);
  }
}

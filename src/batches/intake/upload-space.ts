import { Injectable } from '@nestjs/common';
import { MemoryBudget } from '../../common/memory-budget.js';
import { Settings } from '../../config/settings.js';

/** A list in JSON is no larger, unless body_limit is. */
const SMALL_BYTES = 32 * 1_024 * 1_024;

/** Bytes of the temporary files of this process, in which uploads and long lists wait until they are stored. Uploads leave an eighth to lists. */
@Injectable()
export class UploadSpace extends MemoryBudget {
  constructor({ uploadSpaceBytes }: Settings) {
    super(uploadSpaceBytes, SMALL_BYTES, 'The service has no space for this upload now; try again later');
  }
}

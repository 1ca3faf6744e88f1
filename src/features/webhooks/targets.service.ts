import { Injectable } from '@nestjs/common';

import { partsOf } from '../../common/page-cursor.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextPage } from '../../http/dto/page.js';
import type { TargetBody, TargetListBody, TargetListQuery } from './dto/target-list.js';
import { type ListedTarget, TargetListRepository } from './target-list.repository.js';

/** Shows the targets of webhooks. */
@Injectable()
export class TargetsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly targets: TargetListRepository,
  ) {}

  /** Throws DomainError `invalid`. */
  async list({ failing, limit, after }: TargetListQuery): Promise<TargetListBody> {
    const filter = { isFailing: failing, after: after === undefined ? null : partsOf(after, ['string'])[0] };
    const rows = await this.targets.list(this.unitOfWork.reader, filter, limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(targetBody),
      pagination: nextPage(limit, after, last ? [last.id] : null),
    };
  }
}

const targetBody = ({ id, origin, by, created_at, failing_since, open, dead }: ListedTarget): TargetBody => ({
  target_id: id,
  target_origin: origin,
  set_by: by,
  created_at: toTimestamp(created_at),
  ...(failing_since !== null && { failing_since: toTimestamp(failing_since) }),
  open: Number(open),
  dead: Number(dead),
});

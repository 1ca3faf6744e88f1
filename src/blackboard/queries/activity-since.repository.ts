import { Injectable, type OnModuleInit } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const ONLY = 1;

/** Since when events are counted in `activity_counts`: since the first process that counts them has started. */
@Injectable()
export class ActivitySince implements OnModuleInit {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async onModuleInit(): Promise<void> {
    if ((await this.find()) !== undefined) return;
    await this.unitOfWork.run(({ db }) =>
      db
        .insertInto('activity_since')
        .values({ id: ONLY, since: this.clock.now() })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }

  /** Epoch ms. */
  async get(): Promise<number> {
    return (await this.find())!;
  }

  private async find(): Promise<number | undefined> {
    const row = await this.unitOfWork.reader.selectFrom('activity_since').select('since').executeTakeFirst();
    return row?.since;
  }
}

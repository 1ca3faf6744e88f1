import { Injectable } from '@nestjs/common';

import { DueTicks } from '../../schedules/due-ticks.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';

/** Does the next step of a schedule. The subject is its name. */
@Injectable()
export class ScheduleTick implements TimerHandler {
  constructor(private readonly ticks: DueTicks) {}

  async prepare({ subject }: Timer): Promise<TimerWork> {
    return (await this.ticks.prepare(subject)) ?? NOTHING;
  }
}

import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ActivityController } from './activity.controller.js';
import { ActivityService } from './activity.service.js';
import { ActivityDeletion } from './activity-deletion.js';

@Module({
  imports: [BlackboardModule],
  controllers: [ActivityController],
  providers: [ActivityDeletion, ActivityService],
})
export class ActivityModule {}

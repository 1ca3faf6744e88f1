import { Module } from '@nestjs/common';

import { ExpressionsModule } from '../../cel/expressions.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { CancelKeys } from './cancel-keys.js';
import { LimitKeys } from './limit-keys.js';
import { Matching } from './matching.js';
import { QueueExpressions } from './queue-expressions.js';
import { SubscriptionNumbers } from './subscription-numbers.js';

@Module({
  imports: [DatabaseModule, ExpressionsModule],
  providers: [CancelKeys, LimitKeys, Matching, QueueExpressions, SubscriptionNumbers],
  exports: [CancelKeys, Matching, QueueExpressions, SubscriptionNumbers],
})
export class MatchingModule {}

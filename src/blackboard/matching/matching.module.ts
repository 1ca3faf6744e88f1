import { Module } from '@nestjs/common';

import { ExpressionsModule } from '../../cel/expressions.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { Matching } from './matching.js';
import { SubscriptionNumbers } from './subscription-numbers.js';

@Module({
  imports: [DatabaseModule, ExpressionsModule],
  providers: [Matching, SubscriptionNumbers],
  exports: [Matching, SubscriptionNumbers],
})
export class MatchingModule {}

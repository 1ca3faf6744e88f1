import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { SignalsModule } from '../../pubsub/signals.module.js';
import { CorrelationStateModule } from '../correlations/correlation-state.module.js';
import { BudgetReservations } from './budget-reservations.js';
import { BudgetWaiters } from './budget-waiters.js';
import { Budgets } from './budgets.js';
import { ModelCalls } from './model-calls.js';
import { Usages } from './usages.js';

@Module({
  imports: [CorrelationStateModule, DatabaseModule, SignalsModule],
  providers: [BudgetWaiters, Budgets, ModelCalls, BudgetReservations, Usages],
  exports: [ModelCalls, BudgetReservations, Usages],
})
export class BudgetsModule {}

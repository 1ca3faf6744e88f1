import { Module, type OnApplicationShutdown } from '@nestjs/common';

import { ExpressionEvaluator } from './evaluator.js';

@Module({
  providers: [ExpressionEvaluator],
  exports: [ExpressionEvaluator],
})
export class ExpressionsModule implements OnApplicationShutdown {
  constructor(private readonly evaluator: ExpressionEvaluator) {}

  // The last shutdown hook, because executions that end while the application closes may still evaluate expressions.
  async onApplicationShutdown(): Promise<void> {
    await this.evaluator.close();
  }
}

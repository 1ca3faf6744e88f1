import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';

import { ExpressionEvaluator } from '../evaluator.js';
import { CelEvaluator } from './cel-evaluator.js';

@Module({
  providers: [{ provide: ExpressionEvaluator, useClass: CelEvaluator }],
  exports: [ExpressionEvaluator],
})
export class ExpressionsModule implements OnApplicationShutdown {
  constructor(@Inject(ExpressionEvaluator) private readonly evaluator: ExpressionEvaluator) {}

  // The last shutdown hook, because executions that end while the application closes may still evaluate expressions.
  async onApplicationShutdown(): Promise<void> {
    await this.evaluator.close();
  }
}

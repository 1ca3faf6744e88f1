import { EvaluationProcesses } from './evaluation-processes.js';
import { type EvaluationResult, ExpressionEvaluator, type ExpressionVariables } from '../evaluator.js';
import type { Program } from '../language/expression-program.js';
import { compiled } from '../language/compiled-programs.js';

/** Short work is done at once on the main thread; whatever may take longer goes to a process that can be ended. */
export class CelEvaluator extends ExpressionEvaluator {
  private readonly processes = new EvaluationProcesses();

  async evaluate(source: string, variables: ExpressionVariables): Promise<EvaluationResult> {
    const program = compiled(source);
    return program.runShort(variables) ?? (await this.processes.evaluate(source, usedVariables(program, variables)));
  }

  close(): Promise<void> {
    return this.processes.close();
  }
}

const usedVariables = ({ uses }: Program, variables: ExpressionVariables): object =>
  Object.fromEntries(Array.from(uses.keys(), (name) => [name, variables[name]]));

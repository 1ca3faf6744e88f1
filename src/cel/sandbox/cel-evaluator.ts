import { type EvaluationResult, ExpressionEvaluator, type ExpressionVariables } from '../evaluator.js';
import { compiled } from '../language/compiled-programs.js';
import type { Program } from '../language/expression-program.js';
import { EvaluationProcesses } from './evaluation-processes.js';

/** Evaluates short work directly on the main thread. Work that may take longer goes to a process that can be killed. */
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

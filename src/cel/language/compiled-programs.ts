import { Program } from './expression-program.js';

const programs = new Map<string, Program>();

/**
 * The compiled expression. Compiling a long one takes 100 ms, so that it is done once, by the check at the start. Expressions
 * come from the configuration: they are few. Throws as `parseExpression` does.
 */
export function compiled(source: string): Program {
  let program = programs.get(source);
  if (!program) programs.set(source, (program = new Program(source)));
  return program;
}

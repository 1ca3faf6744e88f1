import { Program } from './expression-program.js';

const programs = new Map<string, Program>();

/**
 * Returns the compiled expression, which is cached: compiling a long one takes 100 ms, and the check at the start does
 * it once. The cache is small, because expressions come only from the configuration. Throws the errors of
 * `parseExpression`.
 */
export function compiled(source: string): Program {
  let program = programs.get(source);
  if (!program) programs.set(source, (program = new Program(source)));
  return program;
}

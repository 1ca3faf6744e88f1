import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentArtifact, ExecutionContext } from '../engine.js';
import { asError } from '../thrown.js';

/** The default export of a function agent's module. */
export type AgentFunction = (inputs: AgentArtifact[], context: ExecutionContext) => unknown;

export type ImportedModule = { run: AgentFunction } | { problem: string };

/** Imports an agent's module, once a process however often it is asked; never rejects for what the module does. */
export async function importAgentModule(module: string, baseDirectory: string): Promise<ImportedModule> {
  const path = resolve(baseDirectory, module);
  if (!(await isFile(path))) return { problem: `there is no file ${path}` };
  try {
    const { default: run } = (await import(pathToFileURL(path).href)) as { default?: unknown };
    if (typeof run === 'function') return { run: run as AgentFunction };
    return { problem: `${module} must have a default export of the form async (inputs, context) => output` };
  } catch (error) {
    return { problem: `${module} cannot be loaded: ${asError(error).message}` };
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

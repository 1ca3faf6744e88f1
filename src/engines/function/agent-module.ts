import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { AgentArtifact, ExecutionContext } from '../engine.js';
import { asError } from '../thrown.js';

/** The default export of a function agent's module. */
export type AgentFunction = (inputs: AgentArtifact[], context: ExecutionContext) => unknown;

export type ImportedModule = { run: AgentFunction } | { problem: string };

/**
 * Imports an agent's module, once per process. Returns a problem instead of rejecting if the module is missing or
 * throws.
 */
export async function importAgentModule(module: string, baseDirectory: string): Promise<ImportedModule> {
  const path = resolve(baseDirectory, module);
  if (!(await isFile(path))) return { problem: `the file ${path} does not exist` };
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

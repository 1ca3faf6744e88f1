import type { LoadedCatalog } from '../../src/catalog/configuration-file/load-catalog.js';
import type { ArtifactType } from '../../src/catalog/definitions.js';
import { CatalogError, describeDiagnostic, type Diagnostic } from '../../src/catalog/diagnostics.js';
import { GrowthLimit } from '../../src/catalog/growth-limit.js';
import type { AgentClass } from '../../src/engines/engine.js';
import { loadConfiguration } from '../../src/engines/load-configuration.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';

export interface Given {
  /** Name of the configuration file; default `starling.yaml`. */
  name?: string;
  environment?: Record<string, string>;
  classes?: AgentClass[];
  /** Further files, by name. */
  files?: Record<string, string>;
}

/** With its warnings as texts. */
type Loaded = Omit<LoadedCatalog, 'warnings'> & { warnings: string[] };

/** Loads a configuration text from a file on disk, with the engines and the settings of the service. */
export async function load(
  text: string,
  { name = 'starling.yaml', environment = {}, classes = [], files = {} }: Given = {},
): Promise<Loaded> {
  const folder = new ConfigurationFolder();
  try {
    for (const [file, content] of Object.entries(files)) folder.write(file, content);
    const loaded = await loadConfiguration(folder.write(name, text), environment, classes);
    return { ...loaded, warnings: loaded.warnings.map(describeDiagnostic) };
  } finally {
    folder.remove();
  }
}

export async function diagnosticsIn(text: string, given: Given = {}): Promise<readonly Diagnostic[]> {
  try {
    await load(text, given);
  } catch (error) {
    if (error instanceof CatalogError) return error.diagnostics;
    throw error;
  }
  return [];
}

/** Returns the problems as `path: message`, without lines. */
export const problemTexts = async (text: string, given: Given = {}): Promise<string[]> =>
  (await diagnosticsIn(text, given)).map(({ path, message }) => `${path}: ${message}`);

/** Returns one agent with an expression engine; `more` are further lines of it, indented by four spaces. */
export const agent = (name: string, consumes: string, more = ''): string =>
  `  ${name}:\n    consumes: [${consumes}]\n    engine: { kind: expression, expression: "null" }\n${more}`;

/** The problem of a payload, or null if its type accepts it. */
export function problemOf(type: ArtifactType, payload: unknown): string | null {
  const accepted = type.accept(payload, new GrowthLimit(2 ** 20));
  return 'problem' in accepted ? accepted.problem : null;
}

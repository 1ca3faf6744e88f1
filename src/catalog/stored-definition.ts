import type { AgentOverride } from './override-options.js';

/** The stored form of an agent: its options, the schemas that its answers must fit, and the code that it runs. */
export interface StoredDefinition {
  /** `sha256:` and 64 hexadecimal digits. Equal definitions of one agent have the same digest. */
  digest: string;
  agent: string;
  /** A JSON object with `options`, `schemas`, `files` and `packages`. */
  definition: string;
}

/** The definition of an agent in the configuration. */
export interface ConfiguredDefinition extends StoredDefinition {
  /** The definition with other options of the engine. */
  overriddenBy(override: AgentOverride): StoredDefinition;
  /** The definition with the options of each variant, by its name. */
  variants: ReadonlyMap<string, StoredDefinition>;
}

/** The code of an agent. */
export interface AgentCode {
  /** SHA-256 of each local file, keyed by its path relative to the configuration file. */
  files: Record<string, string>;
  /** The version of each package that one of these files imports, keyed by its name. */
  packages: Record<string, string>;
}

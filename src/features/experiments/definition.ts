import type { Overrides, ReplayChanges } from '../../catalog/overrides.js';
import type { ReplayConfiguration } from '../../catalog/replay-configuration.js';
import type { ReplayMode } from '../../database/schema.js';

/** The variants and scorers of an experiment, as they are stored. */
export interface Definition {
  data: DataSet;
  expected: Expected | null;
  /** The type of the artifact that is scored. */
  output: string;
  mode: ReplayMode;
  variants: readonly Variant[];
  scorers: readonly Scorer[];
  /** The digest of each configuration that variants name, by its name. Absent if none does. */
  configurations?: Readonly<Record<string, string>>;
  /** The random numbers of the summary depend on it. */
  seed: number;
}

/** The rows are stored apart. */
export type DataSet =
  | { kind: 'csv'; agent: string }
  | { kind: 'batch'; batch: string }
  | { kind: 'artifacts'; artifacts: ArtifactSelection }
  | { kind: 'correlations' };

/** Which artifacts of clients are rows. Times are ISO 8601. */
export interface ArtifactSelection {
  type: string;
  tags?: string[];
  from?: string;
  to?: string;
}

/** The place of the expected value of a row. */
export type Expected =
  | { column: string }
  /** A JSON Pointer into the input. */
  | { path: string }
  /** The output of the original. */
  | { recorded: true };

export interface Variant {
  name: string;
  /** The agent that runs the rows of a CSV, instead of that of the data set. */
  agent?: string;
  /** The configuration that its agents are taken from. */
  configuration?: string;
  overrides?: Overrides;
}

/** Returns how the correlations of a variant differ from the configuration of the service. */
export const changesOf = (definition: Definition, { configuration, overrides }: Variant): ReplayChanges => ({
  configuration: configuration === undefined ? null : configurationIn(definition, configuration),
  overrides: overrides ?? null,
});

/** Returns the configurations that the variants need. */
export const configurationsIn = (definition: Definition): ReplayConfiguration[] => {
  const names = new Set(definition.variants.flatMap(({ configuration }) => configuration ?? []));
  return [...names].map((name) => configurationIn(definition, name));
};

const configurationIn = ({ configurations }: Definition, name: string): ReplayConfiguration => ({
  name,
  digest: configurations?.[name] ?? null,
});

export const SCORER_KINDS = ['latency', 'cost', 'equals', 'contains', 'cel', 'judge'] as const;

export interface Scorer {
  name: string;
  kind: (typeof SCORER_KINDS)[number];
  /** JSON Pointer into the output. */
  path?: string;
  /** Only for the kind `cel`. */
  expression?: string;
  /** Only for the kind `judge`. */
  agent?: string;
}

/** Whether less is better. */
export const lowerIsBetter = ({ kind }: Scorer): boolean => kind === 'latency' || kind === 'cost';

export const needsExpected = ({ kind }: Scorer): boolean => kind === 'equals' || kind === 'contains';

/** A configuration that replays take agents from. Two processes may have different ones with the same name. */
export interface ReplayConfiguration {
  name: string;
  /** Covers all that replays take from it. Null for any with this name: an earlier build did not store it. */
  digest: string | null;
}

/** The text by which a process is known to have the configuration (`executions.configuration`). */
export const configurationKey = ({ name, digest }: ReplayConfiguration): string =>
  digest === null ? name : `${name}@${digest}`;

/** Returns the name in a key. Names have no `@`. */
export const configurationName = (key: string): string => key.split('@')[0]!;

/** Returns the keys of a configuration that a process has. */
export const configurationKeys = (name: string, digest: string): string[] => [
  configurationKey({ name, digest: null }),
  configurationKey({ name, digest }),
];

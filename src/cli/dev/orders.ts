/** The first message to a process. */
export interface Order {
  does: 'check' | 'serve';
  /** The configuration file. */
  config: string;
  /** Settings from the command line, by name. */
  flags: Record<string, unknown>;
  /** Used instead of the file's content. */
  text?: string;
}

/** A later message to a process: end gracefully, as on this signal. */
export interface Stop {
  stop: NodeJS.Signals;
}

/** A message from a process. A check lists the files that it depends on before it exits. */
export type Answer = { files: string[] } | 'serving' | 'stopping';

import type { Format } from '../check/formats.js';

/** The first message to a process. */
export type Order = CheckOrder | ServeOrder;

export interface CheckOrder extends Configured {
  does: 'check';
  /** Other defaults of settings, by name. */
  defaults?: Readonly<Record<string, string>>;
  /** How everything is printed to standard output; null prints only errors, as text to standard error. */
  format: Format | null;
  /** Used instead of the file's content. */
  text?: string;
}

export interface ServeOrder extends Configured {
  does: 'serve';
  /** Used instead of the file's content. */
  text?: string;
}

interface Configured {
  /** The configuration file. */
  config: string;
  /** Settings from the command line, by name. */
  flags: Record<string, unknown>;
}

/** A later message to a process: end gracefully, as on this signal. */
export interface Stop {
  stop: NodeJS.Signals;
}

/** A message from a process. A check names each file that it depends on when it finds it. */
export type Answer = { file: string } | 'serving' | 'stopping';

import { start, type StartOptions } from './start.js';

export interface ServeOptions extends StartOptions {
  /** Whether this process also runs agents. If false, other processes on the same database do. Default: true. */
  worker?: boolean;
}

/** Serves until a signal. Rejects if the start fails. */
export const serve = ({ worker = true, ...options }: ServeOptions): Promise<void> =>
  start(options, { api: true, worker });

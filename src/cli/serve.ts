import { start, type StartOptions } from './start.js';

export interface ServeOptions extends StartOptions {
  /** Whether this process works too; where false, it leaves all work to others on the same database. True where absent. */
  worker?: boolean;
}

/** Serves until a signal; rejects where the start fails. */
export const serve = ({ worker = true, ...options }: ServeOptions): Promise<void> => start(options, { api: true, worker });

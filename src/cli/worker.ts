import { start, type StartOptions } from './start.js';

/** Runs agents until a signal, and answers only health and metrics. Rejects if the start fails. */
export const work = (options: StartOptions): Promise<void> => start(options, { api: false, worker: true });

import { start, type StartOptions } from './start.js';

/** Works until a signal, and answers health and metrics alone; rejects where the start fails. */
export const work = (options: StartOptions): Promise<void> => start(options, { api: false, worker: true });

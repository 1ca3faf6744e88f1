import type { Logger } from 'pino';

export type { Logger };

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('logger');

import type { Logger } from 'pino';

export type { Logger };

/** Injection token for the process's pino logger. */
export const LOGGER = Symbol('logger');

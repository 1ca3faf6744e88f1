import type { LimitKey } from '../matching/limit-keys.js';

/** The form of `executions.blocked_on` and `limit_rates.limit_key`. */
export const keyText = ([limit, key]: Readonly<LimitKey>): string => JSON.stringify([limit, key]);

/** Reads such a form, for an execution of one unit. */
export const parseKey = (text: string): LimitKey => [...(JSON.parse(text) as [string, LimitKey[1]]), 1];

export const parseKeys = (text: string): LimitKey[] => JSON.parse(text) as LimitKey[];

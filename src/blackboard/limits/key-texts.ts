import type { LimitKey } from '../matching/limit-keys.js';

/** The form of `executions.blocked_on` and `limit_rates.limit_key`. */
export const keyText = ([limit, key]: Readonly<LimitKey>): string => JSON.stringify([limit, key]);

/** Reads such a form, for an execution of one unit. */
export const parseKey = (text: string): LimitKey => [...(JSON.parse(text) as [string, LimitKey[1]]), 1];

export const parseKeys = (text: string): LimitKey[] => JSON.parse(text) as LimitKey[];

/** The texts of `executions.limit_keys` or of `executions.held_keys`. */
export const keyTexts = (keys: string | null): string[] => (keys === null ? [] : parseKeys(keys).map(keyText));

import { hash } from 'node:crypto';

/** The APIs of models take names of up to 64 characters from this set. */
const MAX_LENGTH = 64;
const ALLOWED = /^[A-Za-z0-9_-]+$/;
const OTHERS = /[^A-Za-z0-9_-]/g;
const DIGEST_LENGTH = 8;

/**
 * Returns the tool name for a type or an agent. A name that is too long or has other characters gets a digest to keep
 * it unique.
 */
export function toolName(prefix: string, name: string): string {
  const whole = prefix + name;
  if (whole.length <= MAX_LENGTH && ALLOWED.test(name)) return whole;
  const digest = hash('sha256', name).slice(0, DIGEST_LENGTH);
  return `${whole.replace(OTHERS, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}_${digest}`;
}

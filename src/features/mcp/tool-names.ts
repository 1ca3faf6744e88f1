import { hash } from 'node:crypto';

/** Models' APIs take 64 of these characters. */
const MAX_LENGTH = 64;
const ALLOWED = /^[A-Za-z0-9_-]+$/;
const OTHERS = /[^A-Za-z0-9_-]/g;
const DIGEST_LENGTH = 8;

/** A tool's name for the type or agent `name`: with a digest in it where only so it is an allowed one that no other name shares. */
export function toolName(prefix: string, name: string): string {
  const whole = prefix + name;
  if (whole.length <= MAX_LENGTH && ALLOWED.test(name)) return whole;
  const digest = hash('sha256', name).slice(0, DIGEST_LENGTH);
  return `${whole.replace(OTHERS, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}_${digest}`;
}

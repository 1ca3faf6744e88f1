import { createHash } from 'node:crypto';

/**
 * Says whether two processes have the same configuration: `sha256:` and 64 hexadecimal digits, over the file and the agents that are
 * written as classes. Anybody may read it, so it must tell no secret: `file` has variables as they are spelled, never their values,
 * and `server:`, where secrets may stand, is left out. Neither comments nor the order of keys change it.
 */
export function configurationDigest(file: unknown, classes: readonly unknown[]): string {
  const configuration = { ...(file as object | null), server: null };
  return `sha256:${createHash('sha256').update(JSON.stringify([sorted(configuration), sorted(classes)])).digest('hex')}`;
}

/** `within`: what it stands in, since a YAML alias may name what it stands in itself. */
function sorted(value: unknown, within: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (within.includes(value)) return null;
  const around = [...within, value];
  if (Array.isArray(value)) return value.map((each) => sorted(each, around));
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, each]) => [key, sorted(each, around)]));
}

import { createHash } from 'node:crypto';

/**
 * A digest that shows whether two processes have the same configuration: `sha256:` and 64 hexadecimal digits, over the
 * file and the agents that are classes. Anyone may read it, so it must not reveal secrets: `file` has variables as the
 * file spells them, never their values, and `server:`, which may contain secrets, is left out. Comments and the order
 * of keys do not change it.
 */
export function configurationDigest(file: unknown, classes: readonly unknown[]): string {
  const configuration = { ...(file as object | null), server: null };
  return digestOf([configuration, classes]);
}

/** Returns `sha256:` and 64 hexadecimal digits, which do not depend on the order of keys. */
export const digestOf = (value: unknown): string =>
  `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')}`;

/** Returns the same JSON with sorted keys. `within` has the values around this one, because a YAML alias may refer to a value that contains it. */
export function sorted(value: unknown, within: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (within.includes(value)) return null;
  const around = [...within, value];
  if (Array.isArray(value)) return value.map((each) => sorted(each, around));
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, each]) => [key, sorted(each, around)]),
  );
}

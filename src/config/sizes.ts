const UNITS: Record<string, number> = { B: 1, KiB: 1_024, MiB: 1_024 ** 2, GiB: 1_024 ** 3 };

/** Bytes of a size such as `1MiB`, `512KiB` or `1048576`; null if `text` is not one. */
export function parseSize(text: string): number | null {
  const match = /^(\d+) ?(B|KiB|MiB|GiB)?$/.exec(text);
  return match ? Number(match[1]) * UNITS[match[2] ?? 'B']! : null;
}

/** The size in the form of `parseSize`, in the largest unit that divides it: `32MiB` for 33,554,432 bytes. */
export function sizeText(bytes: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, size]) => bytes % size === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}

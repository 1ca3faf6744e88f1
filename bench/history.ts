// The history that the seeded databases hold. Whatever the number of artifacts, a correlation has the same size, a tag and a
// time range match the same number, and types, producers and visibilities have the same shares.

export const PER_CORRELATION = 10;
export const PER_TAG = 1_000;

export const TYPES = ['Kind0', 'Kind1', 'Kind2', 'Kind3', 'Kind4'] as const;
export const PRODUCERS = ['external', 'sorter', 'packer', 'courier'] as const;
export const VISIBILITIES = [
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Public' },
  { kind: 'Private', agents: ['sorter'] },
  { kind: 'Labelled', required_labels: ['pii'] },
  { kind: 'Tenant', tenant_id: 'acme' },
] as const;

const BEGIN = Date.UTC(2026, 0, 1);

/** Epoch ms: an artifact a second. */
export const createdAt = (index: number): number => BEGIN + index * 1_000;

export const typeOf = (index: number) => TYPES[index % TYPES.length]!;
export const producerOf = (index: number) => PRODUCERS[Math.floor(index / TYPES.length) % PRODUCERS.length]!;
export const visibilityOf = (index: number) => VISIBILITIES[Math.floor(index / 20) % VISIBILITIES.length]!;

export const correlationOf = (index: number): string => `order-${Math.floor(index / PER_CORRELATION)}`;

/** Spread over the whole history, so that no two artifacts of a tag lie near each other in a large one. */
export const tagOf = (index: number, artifacts: number): string => `lot-${index % (artifacts / PER_TAG)}`;

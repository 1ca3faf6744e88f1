import { hash } from 'node:crypto';

import type { AgentOverride } from './override-options.js';

/** Other options of an agent's engine, with which it runs for a share of the correlations. */
export interface Variant {
  name: string;
  /** Its share of the correlations, in parts of `WHOLE`. */
  share: number;
  override: AgentOverride;
}

export interface Variants {
  /** In the order of the file. Their shares are at most `WHOLE` together. */
  all: readonly Variant[];
  /** Null: no variant is rolled back. */
  rollback: RollbackRule | null;
  /** Two lists of variants have the same digest if their names, shares and options are equal. */
  digest: string;
}

/** When a variant has failed so often that its correlations use the agent's own options instead. */
export interface RollbackRule {
  /** This many of the last `of` attempts of the variant have failed. */
  failures: number;
  of: number;
}

/** The name of an agent's own options, where variants have theirs. */
export const BASE = 'base';

/** Shares are multiples of a hundredth of a percent. */
export const WHOLE = 10_000;

export const MOST_VARIANTS = 8;

/** Reads a share such as `12.5%`. */
export const partsOf = (share: string): number => Math.round((Number.parseFloat(share) * WHOLE) / 100);

/** The share in the form of the file. */
export const shareText = (parts: number): string => `${(parts * 100) / WHOLE}%`;

export const digestOfVariants = (all: readonly Variant[]): string =>
  hash('sha256', JSON.stringify(all.map(({ name, share, override }) => [name, share, override])));

/**
 * The variant of a correlation; null for the agent's own options. It depends on the name of the agent and the id of the
 * correlation alone, so that it is the same for all executions of a cascade, in every process and after every start.
 */
export function variantFor(agent: string, { all }: Variants, correlation: string): Variant | null {
  const place = WHOLE * fractionOf(agent, correlation);
  let end = 0;
  for (const variant of all) {
    end += variant.share;
    if (place < end) return variant;
  }
  return null;
}

const DIGITS = 12;

/** A number from 0 to 1, without 1. Other agents have other numbers, so that their variants do not coincide. */
const fractionOf = (agent: string, correlation: string): number =>
  Number.parseInt(hash('sha256', JSON.stringify([agent, correlation])).slice(0, DIGITS), 16) / 16 ** DIGITS;

/** The key under which the attempts of a variant are counted. Variants that the file has changed count again. */
export const rollbackKey = (agent: string, { digest }: Variants, variant: string): string =>
  JSON.stringify([`variant ${variant} of ${agent}`, digest]);

import type { Overrides } from '../../catalog/overrides.js';

/** The form of `correlations.replay_options`. Null if a replay overrides nothing. */
interface ReplayOptions {
  overrides: Overrides;
}

export const replayOptionsText = (overrides: Overrides | null): string | null =>
  overrides === null ? null : JSON.stringify({ overrides } satisfies ReplayOptions);

export const overridesIn = (text: string | null): Overrides | null =>
  text === null ? null : (JSON.parse(text) as ReplayOptions).overrides;

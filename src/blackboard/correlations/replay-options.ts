import type { Overrides } from '../../catalog/overrides.js';
import type { CorrelationRow } from './tracked-correlation.js';

/** The form of `correlations.replay_options`. */
interface ReplayOptions {
  /** Absent if the replay overrides nothing. */
  overrides?: Overrides;
  /**
   * The correlation whose variants the replay uses, or another text that decides on them as an id does. Absent if it is the
   * correlation that it repeats.
   */
  variants_from?: string;
}

/** Null if there are none. */
export const replayOptionsText = (overrides: Overrides | null, variantsFrom: string | null = null): string | null =>
  overrides === null && variantsFrom === null
    ? null
    : JSON.stringify({
        ...(overrides && { overrides }),
        ...(variantsFrom !== null && { variants_from: variantsFrom }),
      } satisfies ReplayOptions);

const optionsIn = (text: string | null): ReplayOptions => (text === null ? {} : (JSON.parse(text) as ReplayOptions));

export const overridesIn = (text: string | null): Overrides | null => optionsIn(text).overrides ?? null;

/**
 * The id of the correlation whose variants of agents a correlation uses: a replay those of the correlation that was there
 * first, so that nothing differs but what the replay changes.
 */
export const variantsFrom = ({
  id,
  origin,
  replay_options,
}: Pick<CorrelationRow, 'id' | 'origin' | 'replay_options'>): string =>
  optionsIn(replay_options).variants_from ?? origin ?? id;

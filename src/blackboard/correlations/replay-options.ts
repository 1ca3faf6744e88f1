import type { Overrides, ReplayChanges } from '../../catalog/overrides.js';
import type { CorrelationRow } from './tracked-correlation.js';

/** The form of `correlations.replay_options`. */
interface ReplayOptions {
  /** Absent if the replay overrides nothing. */
  overrides?: Overrides;
  /** Absent if all agents run as in the configuration of the service. */
  configuration?: string;
  /**
   * The correlation whose variants the replay uses, or another text that decides on them as an id does. Absent if it is the
   * correlation that it repeats.
   */
  variants_from?: string;
}

/** Null if there are none. */
export function replayOptionsText(
  { configuration, overrides }: ReplayChanges,
  variantsFrom: string | null = null,
): string | null {
  if (configuration === null && overrides === null && variantsFrom === null) return null;
  const options: ReplayOptions = {
    ...(overrides !== null && { overrides }),
    ...(configuration !== null && { configuration }),
    ...(variantsFrom !== null && { variants_from: variantsFrom }),
  };
  return JSON.stringify(options);
}

const optionsIn = (text: string | null): ReplayOptions => (text === null ? {} : (JSON.parse(text) as ReplayOptions));

export function changesIn(text: string | null): ReplayChanges {
  const { overrides = null, configuration = null } = optionsIn(text);
  return { overrides, configuration };
}

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

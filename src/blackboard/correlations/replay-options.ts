import type { Overrides, ReplayChanges } from '../../catalog/overrides.js';
import type { CorrelationRow } from './tracked-correlation.js';

/** The kind of thing whose id `correlations.origin` is: what is replayed, or what began the correlation. */
export type OriginKind = 'correlation' | 'experiment';

/** The form of `correlations.replay_options`. */
interface ReplayOptions {
  /** Absent if the replay overrides nothing. */
  overrides?: Overrides;
  /** The name. Absent if all agents run as in the configuration of the service. */
  configuration?: string;
  /** That of the configuration when the replay began. */
  configuration_digest?: string;
  /** Absent if the origin is a correlation. */
  origin_kind?: 'experiment';
  /**
   * The correlation whose variants the replay uses, or another text that decides on them as an id does. Absent if it is the
   * correlation that it repeats.
   */
  variants_from?: string;
}

/** Null if all options are absent. */
export function replayOptionsText(
  { configuration, overrides }: ReplayChanges,
  { origin, variantsFrom = null }: { origin: OriginKind; variantsFrom?: string | null },
): string | null {
  const options: ReplayOptions = {
    ...(overrides !== null && { overrides }),
    ...(configuration !== null && { configuration: configuration.name }),
    ...(configuration?.digest && { configuration_digest: configuration.digest }),
    ...(origin === 'experiment' && { origin_kind: origin }),
    ...(variantsFrom !== null && { variants_from: variantsFrom }),
  };
  return Object.keys(options).length === 0 ? null : JSON.stringify(options);
}

const optionsIn = (text: string | null): ReplayOptions => (text === null ? {} : (JSON.parse(text) as ReplayOptions));

export function changesIn(text: string | null): ReplayChanges {
  const { overrides = null, configuration: name, configuration_digest: digest = null } = optionsIn(text);
  return { overrides, configuration: name === undefined ? null : { name, digest } };
}

export const originKindIn = (text: string | null): OriginKind => optionsIn(text).origin_kind ?? 'correlation';

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

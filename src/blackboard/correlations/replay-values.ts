/** The values of `executions.replay`. */
export const NOT_REPLAYED = 0;
/** Its agent runs. */
export const RUN = 1;
/** The replay took its answer from the record. */
export const RECORDED = 2;
/** Its agent must not run, and the replay has not found its answer in the record yet, or at all. */
export const UNANSWERED = 3;

/** How an execution of a replay was answered, for clients. */
export const REPLAYED_AS = ['run', 'recorded', 'unanswered'] as const;

export type ReplayedAs = (typeof REPLAYED_AS)[number];

const NAMES: Readonly<Record<number, ReplayedAs>> = {
  [RUN]: 'run',
  [RECORDED]: 'recorded',
  [UNANSWERED]: 'unanswered',
};

/** The field of an execution on the wire. Absent if it does not belong to a replay. */
export const replayedAs = ({ replay }: { replay: number }): { replay?: ReplayedAs } =>
  replay === NOT_REPLAYED ? {} : { replay: NAMES[replay]! };

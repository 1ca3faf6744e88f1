import type { Schemas } from '../../api/requests';
import { countText, numberText, shareText } from '../../formats';
import type { OpenGroups } from './open-groups';

export type Activity = Schemas['AgentActivityBody'];

/** The figures that the view shows beside the catalog, as far as they are known. */
export interface Flow {
  /** The last hour of an agent; undefined if nothing ran. */
  activity: (agent: string) => Activity | undefined;
  openGroups: (agent: string, subscription: number) => OpenGroups | undefined;
}

/** "3 open", "100 or more open" */
export function openText({ count, isAtLeast }: OpenGroups): string {
  return isAtLeast ? `${numberText(count)} or more open` : `${numberText(count)} open`;
}

export const failureShare = ({ failures, ends }: Activity): string => shareText(failures / Math.max(1, ends));

/** "12 executions ended in the last hour, 8 % failed" */
export function activityText(activity: Activity | undefined): string {
  if (activity === undefined || activity.ends === 0) return 'nothing ended in the last hour';
  const ended = `${countText(activity.ends, 'execution')} ended in the last hour`;
  return activity.failures === 0 ? ended : `${ended}, ${failureShare(activity)} failed`;
}

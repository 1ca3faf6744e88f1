import type { Visibility } from '../../catalog/visibility.js';
import { agentArtifactFromRow, type ArtifactRow } from '../artifacts/artifact.js';
import { releaseTime } from '../artifacts/visibility-rules.js';
import { RECORDED } from '../correlations/replay-values.js';
import type { Matchable } from '../matching/matcher.js';
import type { Recorded } from './records.repository.js';

/** An artifact as it was, or will be, offered to the agents. */
export interface Offer {
  matchable: Matchable;
  /**
   * The time of its release, if that is later than now, else now (epoch ms). Until its release, any other reason to refuse it
   * is already final.
   */
  at: number;
  /** Why no agent reacts to it, as a sentence. Null if they do. */
  notOffered: string | null;
  /** Whether its replay took it from the record when the replay began. Such an artifact cancels nothing. */
  fromRecord: boolean;
}

/** `now`: epoch ms. */
export function offerOf(row: ArtifactRow, recorded: Recorded, now: number): Offer {
  const matchable: Matchable = {
    artifact: agentArtifactFromRow(row, row.payload),
    visibility: JSON.parse(row.visibility) as Visibility,
    createdAt: row.created_at,
  };
  const at = Math.max(now, releaseTime(matchable.visibility, row.created_at) ?? 0);
  return { matchable, at, notOffered: whyNotOffered(recorded), fromRecord: isFromRecord(row, recorded) };
}

/**
 * The transaction that creates the correlation of a replay stores what the replay takes from the record. Artifacts that it
 * stores later do cancel, also if the record gave the answer of their execution.
 */
const isFromRecord = ({ created_at }: ArtifactRow, { correlation, replayOfProducer }: Recorded): boolean =>
  correlation !== null &&
  correlation.replay_mode !== null &&
  correlation.replay_mode !== 'full' &&
  correlation.started_at === created_at &&
  (replayOfProducer ?? RECORDED) === RECORDED;

function whyNotOffered({ executions, directRunOf }: Recorded): string | null {
  if (directRunOf !== null)
    return `${directRunOf} published it in a direct run, and no agent reacts to the outputs of a direct run.`;
  const invoked = executions.find((execution) => execution.invoked);
  return invoked ? `It is the input of a run that named ${invoked.agent}, and no other agent reacts to it.` : null;
}

/** The correlation of an artifact or of an execution. */
export interface KeyOwner {
  id: string;
  isReplay: boolean;
}

/** Begins what `keyIn` adds. The keys that it is called with are JSON or a digest, so they do not begin with it. */
export const OF_REPLAY = '#';

/** Keys of a replay are apart from all others. */
export const keyIn = ({ id, isReplay }: KeyOwner, key: string): string => (isReplay ? key + OF_REPLAY + id : key);

// The id of a replay is a UUID.
const ADDED = /#[\da-f-]{36}$/;

/** The key that `keyIn` was called with. */
export const keyWithoutReplay = (key: string): string => key.replace(ADDED, '');

/** Returns what `keyIn` has added to a key; empty if it belongs to no replay. */
export const replayIn = (key: string): string => ADDED.exec(key)?.[0] ?? '';

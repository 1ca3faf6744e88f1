import type { ReplayMode } from '../../database/schema.js';

export const REPLAY_MODES = ['full', 'recorded', 'shadow'] as const satisfies ReplayMode[];

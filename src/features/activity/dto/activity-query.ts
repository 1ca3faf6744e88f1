import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../common/time-steps.js';
import { QueryDuration, QueryText } from '../../../http/validation/query.js';

/** Lengths of windows (ms). */
export const WINDOWS = { '1h': HOUR_MS, '24h': DAY_MS, '7d': 7 * DAY_MS } as const;

/** Lengths of steps (ms). */
export const STEPS = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '1d': DAY_MS,
} as const;

export type WindowName = keyof typeof WINDOWS;
export type StepName = keyof typeof STEPS;

/**
 * The finest step of each window for all agents, which is also the default, and for a single agent. Minutes are kept
 * for a day.
 */
export const FINEST: Record<WindowName, { ofAll: StepName; ofOne: StepName }> = {
  '1h': { ofAll: '1m', ofOne: '1m' },
  '24h': { ofAll: '15m', ofOne: '1m' },
  '7d': { ofAll: '1h', ofOne: '1h' },
};

export class ActivityQuery {
  @QueryDuration({
    description: 'How far back the answer goes',
    example: '24h',
    choices: Object.keys(WINDOWS),
    default: '1h',
  })
  window!: WindowName;

  @QueryDuration({
    description:
      'Length of the steps, shorter than the window. By default 1m in a window of 1h, 15m in 24h, and 1h in 7d, which ' +
      'are also the shortest; with `agent`, a window of 24h may have steps of 1m',
    example: '1h',
    choices: Object.keys(STEPS),
  })
  step?: StepName;

  @QueryText({ description: 'Counts this agent only', example: 'classifier' })
  agent?: string;
}

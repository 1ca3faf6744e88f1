const MINUTE_MS = 60_000;
export const WINDOW_MS: Record<string, number> = { '1h': 60, '24h': 24 * 60, '7d': 7 * 24 * 60 };
export const STEP_MS: Record<string, number> = { '1m': 1, '5m': 5, '15m': 15, '1h': 60, '6h': 6 * 60, '1d': 24 * 60 };
for (const lengths of [WINDOW_MS, STEP_MS]) for (const name in lengths) lengths[name]! *= MINUTE_MS;

/** Every window with every step that all agents can have in it. */
export const STEPS_OF: Record<string, string[]> = {
  '1h': ['1m', '5m', '15m'],
  '24h': ['15m', '1h', '6h'],
  '7d': ['1h', '6h', '1d'],
};

export interface ModelEvent {
  agent: string;
  at: number;
  kind: 'started' | 'completed' | 'failed' | 'retried';
  /** Milliseconds; null if it has none. */
  latency: number | null;
}

interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

interface Counts {
  starts: number;
  ends: number;
  failures: number;
  retries: number;
  duration_ms: Quantiles | null;
  queue_ms: Quantiles | null;
}

interface Series extends Counts {
  steps: ({ start: string } & Counts)[];
}

/** The answer of GET /api/v1/activity. */
export interface Activity {
  window: string;
  step: string;
  since: string;
  from: string;
  to: string;
  total: Series;
  agents: ({ agent: string } & Series)[];
}

/** Returns what the answer must be, with the exact quantiles. */
export function activityOf(
  events: readonly ModelEvent[],
  { since, now }: { since: number; now: number },
  { window, step, agent }: { window: string; step: string; agent?: string },
): Activity {
  const stepMs = STEP_MS[step]!;
  const from = Math.floor(Math.max(now - WINDOW_MS[window]!, since) / stepMs) * stepMs;
  const shown = events.filter((event) => event.at >= from && (agent === undefined || event.agent === agent));
  const seriesOf = (some: readonly ModelEvent[]): Series => {
    const steps: Series['steps'] = [];
    for (let start = from; start <= now; start += stepMs) {
      const inside = some.filter(({ at }) => at >= start && at < start + stepMs);
      steps.push({ start: new Date(start).toISOString(), ...countsOf(inside) });
    }
    return { ...countsOf(some), steps };
  };
  const agents = [...new Set(shown.map((event) => event.agent))].sort();
  return {
    window,
    step,
    since: new Date(since).toISOString(),
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    total: seriesOf(shown),
    agents: agents.map((name) => ({ agent: name, ...seriesOf(shown.filter((event) => event.agent === name)) })),
  };
}

function countsOf(events: readonly ModelEvent[]): Counts {
  const of = (...kinds: ModelEvent['kind'][]): ModelEvent[] => events.filter(({ kind }) => kinds.includes(kind));
  return {
    starts: of('started').length,
    ends: of('completed', 'failed').length,
    failures: of('failed').length,
    retries: of('retried').length,
    duration_ms: quantilesOf(of('completed', 'failed')),
    queue_ms: quantilesOf(of('started')),
  };
}

/** By the nearest rank. */
function quantilesOf(events: readonly ModelEvent[]): Quantiles | null {
  const sorted = events.flatMap(({ latency }) => latency ?? []).sort((one, other) => one - other);
  if (sorted.length === 0) return null;
  const at = (percent: number): number => sorted[Math.ceil((percent * sorted.length) / 100) - 1]!;
  return { p50: at(50), p95: at(95), p99: at(99) };
}

/** Replaces every quantile that is close enough to the exact one by the exact one. */
export function withExactQuantiles(answer: Activity, exact: Activity): Activity {
  const counts = <T extends Counts>(found: T, expected: Counts | undefined): T => ({
    ...found,
    duration_ms: close(found.duration_ms, expected?.duration_ms),
    queue_ms: close(found.queue_ms, expected?.queue_ms),
  });
  const series = <T extends Series>(found: T, expected: Series | undefined): T => ({
    ...counts(found, expected),
    steps: found.steps.map((step, index) => counts(step, expected?.steps[index])),
  });
  return {
    ...answer,
    total: series(answer.total, exact.total),
    agents: answer.agents.map((one, index) => series(one, exact.agents[index])),
  };
}

const LARGEST_ERROR = 0.1;

function close(found: Quantiles | null, expected: Quantiles | null | undefined): Quantiles | null {
  if (!found || !expected) return found;
  const pick = (name: keyof Quantiles): number =>
    Math.abs(found[name] - expected[name]) <= LARGEST_ERROR * expected[name] ? expected[name] : found[name];
  return { p50: pick('p50'), p95: pick('p95'), p99: pick('p99') };
}

import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';

import { useLiveRefresh } from '../live/use-live';
import { answered, api, READ_AGAIN } from './client';
import { LIVE } from './queries';

/** The metrics that the app shows. */
const NAMES = [
  'starling_deliveries',
  'starling_executions_without_agent',
  'starling_external_executions',
  'starling_limit',
  'starling_queue_depth',
  'starling_waiting_arrivals',
  'starling_waiting_artifacts',
  'starling_waiting_executions',
] as const;

export type MetricName = (typeof NAMES)[number];

/** One value of a metric, with its labels. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus. */
export function samplesIn(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, key, quoted]) => [key!, quoted!.replace(/\\(.)/g, '$1')]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

const METRICS = ['/metrics'];

const EVERY_MS = 5_000;
const POLL_MS = 10_000;

/** The gauges of the process that answers, and of the database. */
export function useMetrics(): UseQueryResult<readonly Sample[]> {
  const query = useQuery<readonly Sample[]>({
    queryKey: METRICS,
    queryFn: async ({ signal }) =>
      samplesIn(
        await answered(
          api.GET('/metrics', { params: { query: { name: [...NAMES] } }, parseAs: 'text', signal }),
          READ_AGAIN,
        ),
      ),
    meta: LIVE,
    refetchInterval: POLL_MS,
  });
  const client = useQueryClient();
  useLiveRefresh(
    () => void client.invalidateQueries({ queryKey: METRICS }),
    ({ event_type }) => event_type !== 'execution_output',
    EVERY_MS,
  );
  return query;
}

import { useQuery } from '@tanstack/react-query';

import { get, type Schemas } from './requests';

/** The configuration does not change while the service runs. After a restart, the new connection loads it again. */
const KEPT_MS = 60_000;

const NO_NAMES: never[] = [];

/** The names of all artifact types. */
export function useTypeNames(): readonly string[] {
  const { data } = useQuery({
    queryKey: ['/api/v1/artifact-types', undefined],
    queryFn: ({ signal }) => get('/api/v1/artifact-types', undefined, signal),
    staleTime: KEPT_MS,
    select: ({ artifact_types }) => artifact_types.map(({ name }) => name),
  });
  return data ?? NO_NAMES;
}

/** All agents. */
export function useAgents(): readonly Schemas['AgentBody'][] {
  const { data } = useQuery({
    queryKey: ['/api/v1/agents', undefined],
    queryFn: ({ signal }) => get('/api/v1/agents', undefined, signal),
    staleTime: KEPT_MS,
    select: ({ agents }) => agents,
  });
  return data ?? NO_NAMES;
}

import type { ReactNode } from 'react';

import type { Schemas } from '../api/requests';
import { JsonBlock } from './json-block';
import { Place } from './place';
import { Ago } from './time';

/** Artifacts with their payloads. */
export function ArtifactList({ artifacts }: { artifacts: readonly Schemas['ArtifactBody'][] }): ReactNode {
  return (
    <ul className="flex flex-col gap-2">
      {artifacts.map(({ id, type, produced_by, created_at, payload }) => (
        <li key={id} className="flex flex-col gap-1">
          <span className="flex flex-wrap items-baseline justify-between gap-x-2 text-table">
            <Place to="/artifacts/$id" params={{ id }}>
              {type}
            </Place>
            <span className="text-label text-muted">
              {produced_by}, <Ago at={created_at} />
            </span>
          </span>
          <JsonBlock label={`payload of ${type}`} value={payload} />
        </li>
      ))}
    </ul>
  );
}

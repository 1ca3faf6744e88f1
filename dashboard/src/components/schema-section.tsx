import type { ReactNode } from 'react';

import type { Schemas } from '../api/requests';
import { Section } from './section';

/** An artifact type with its schema. */
export function SchemaSection({ type }: { type: Schemas['ArtifactTypeBody'] }): ReactNode {
  const { name, version, description, schema } = type;
  return (
    <Section title={name} actions={<span className="text-label text-muted">version {version}</span>}>
      <div className="flex flex-col gap-2 p-3 text-table">
        {description !== '' && <p>{description}</p>}
        {schema === null ? (
          <p className="text-muted">It has no schema: any JSON object is a payload.</p>
        ) : (
          <pre
            tabIndex={0}
            role="region"
            aria-label={`Schema of ${name}`}
            className="max-h-120 overflow-auto font-mono text-label whitespace-pre-wrap text-muted"
          >
            {JSON.stringify(schema, undefined, 2)}
          </pre>
        )}
      </div>
    </Section>
  );
}

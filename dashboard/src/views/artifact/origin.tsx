import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import type { Answer } from '../../api/requests';
import { ArtifactList } from '../../components/artifact-list';
import { IdChip } from '../../components/copy';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';

type Artifact = Answer<'/api/v1/artifacts/{artifact_id}'>;

/** Shows the origin of an artifact: a client, or an execution with its inputs. */
export function Origin({ artifact }: { artifact: Artifact }): ReactNode {
  return (
    <Section title="Where it came from">
      {artifact.produced_by === 'external' ? (
        <p className="p-3 text-table">A client published it.</p>
      ) : (
        <Producer artifact={artifact} />
      )}
    </Section>
  );
}

function Producer({ artifact: { execution_id: id, produced_by: agent } }: { artifact: Artifact }): ReactNode {
  const publisher = (
    <Place to="/agents/$name" params={{ name: agent }} className="link underline">
      {agent}
    </Place>
  );
  if (id === null) return <p className="p-3 text-table">The agent {publisher} published it.</p>;
  return <ProducingExecution id={id} publisher={publisher} />;
}

function ProducingExecution({ id, publisher }: { id: string; publisher: ReactNode }): ReactNode {
  const { data, error } = useApi('/api/v1/executions/{execution_id}', { path: { execution_id: id } });
  if (error) return <Failure error={error} />;
  if (!data) return <LoadingRows count={3} />;
  const { correlation_id, inputs, state } = data;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line p-3 text-table">
        <span>{publisher} published it in the execution</span>
        <IdChip
          id={id}
          what="execution"
          to={{ to: '/correlations/$id', params: { id: correlation_id }, search: { selected: id } }}
        />
        <StateBadge state={state} />
        <span className="text-muted">{inputs.length === 0 ? 'Its inputs were deleted.' : 'on these inputs:'}</span>
      </div>
      <div className="p-3">
        <ArtifactList artifacts={inputs} />
      </div>
    </>
  );
}

import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';

import { useApi } from '../api/queries';
import type { Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { announce } from '../components/announcer';
import { CurlButton } from '../components/copy';
import { ChoiceField } from '../components/fields';
import { Icon } from '../components/icon';
import { JsonField, parseList, parseObject } from '../components/json-field';
import { Page } from '../components/page';
import { SchemaSection } from '../components/schema-section';
import { Empty, Failure, LoadingRows } from '../components/states';
import { countText } from '../formats';
import { exampleOf } from '../json-example';
import { ColumnInputs } from './new-batch/column-inputs';
import { CsvFields } from './new-batch/csv-fields';
import type { Delimiter } from './new-batch/csv-preview';
import { fieldsOf, inputsFor, inputType, requiredOf } from './new-batch/input-names';
import { Options } from './new-batch/options';
import { PreviewSection } from './new-batch/preview-section';
import { shownRequest, startBatch } from './new-batch/requests';
import { usePreview } from './new-batch/use-preview';

const TYPES = '/api/v1/artifact-types';

const READERS = {
  agent: text,
  source: choice('csv', 'list'),
  order: choice('together', 'one by one'),
  workers: text,
  row_key: text,
};

export type BatchDraft = Filters<{ [K in keyof typeof READERS]: ReturnType<(typeof READERS)[K]> }>;

export default function NewBatch(): ReactNode {
  const types = useApi(TYPES);
  const agents = useApi('/api/v1/agents');
  const failed = [types, agents].find(({ data, error }) => error !== null && data === undefined);
  if (types.data && agents.data && agents.data.agents.length > 0)
    return <BatchForm agents={agents.data.agents} types={types.data.artifact_types} />;
  const body = (): ReactNode => {
    if (failed) return <Failure error={failed.error!} retry={() => void failed.refetch()} />;
    if (!types.data || !agents.data) return <LoadingRows />;
    return (
      <Empty icon="agent" title="No agent is configured">
        Declare one under <code className="font-mono">agents</code> in the configuration, and start the service again.
      </Empty>
    );
  };
  return (
    <Page title="Start a batch" actions={<CurlButton request={{ path: TYPES }} />}>
      {body()}
    </Page>
  );
}

interface FormProps {
  agents: readonly Schemas['AgentBody'][];
  types: readonly Schemas['ArtifactTypeBody'][];
}

function BatchForm({ agents, types }: FormProps): ReactNode {
  const draft: BatchDraft = useFilters(READERS);
  const { value, set } = draft;
  const isCsv = value.source === 'csv';
  const agent = agents.find(({ name }) => name === value.agent) ?? agents[0]!;
  const type = inputType(agent, types);

  const [file, setFile] = useState<File>();
  const [delimiter, setDelimiter] = useState<Delimiter>();
  const [typedNames, setTypedNames] = useState<Record<string, string>>({});
  const preview = usePreview(file, delimiter);
  const columns = preview.data?.columns ?? [];
  const names = { ...inputsFor(columns, fieldsOf(type)), ...typedNames };

  const [typedList, setTypedList] = useState<string>();
  const listText = typedList ?? JSON.stringify([exampleOf(type?.schema ?? null)], undefined, 2);
  const { list, fault: listFault } = parseList(listText);

  const [staticText, setStaticText] = useState('{}');
  const { object: staticInputs } = parseObject(staticText);

  const options = {
    agent_name: agent.name,
    ...(staticInputs && Object.keys(staticInputs).length > 0 && { static_inputs: staticInputs }),
    ...(value.order === 'one by one' && { parallel: false }),
    ...(value.workers !== '' && { max_workers: Number(value.workers) }),
    ...(value.row_key !== '' && { row_key: value.row_key }),
  };
  const source = isCsv
    ? { file, mapping: preview.data && usedNames(columns, names), delimiter: preview.data?.delimiter }
    : { items: list };

  const navigate = useNavigate();
  const starting = useMutation({
    mutationFn: () => startBatch(options, source),
    onSuccess: ({ batch_id: id, total_items }) => {
      announce(`Started a batch of ${countText(total_items, 'item')}`);
      void navigate({ to: '/batches/$id' as string, params: { id } as never });
    },
  });
  const isValid = (isCsv || list !== undefined) && staticInputs !== undefined;
  const isReady = isValid && !(isCsv && file === undefined) && !starting.isPending;
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (isReady) starting.mutate();
  };
  const chooseFile = (chosen: File | undefined): void => {
    setFile(chosen);
    setDelimiter(undefined);
    setTypedNames({});
    starting.reset();
  };

  return (
    <Page
      title="Start a batch"
      about="Run one agent over many inputs; each becomes a run of its own"
      actions={<CurlButton request={isValid ? shownRequest(options, source) : undefined} />}
    >
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <form onSubmit={submit} className="card flex max-w-220 min-w-0 flex-col gap-4 p-4">
          <div className="flex flex-wrap items-end gap-3">
            <ChoiceField
              label="Agent"
              value={agent.name}
              choices={agents.map(({ name }) => ({ value: name, text: name }))}
              onChange={(name) => set({ agent: name })}
            />
            <ChoiceField
              label="Inputs"
              value={value.source}
              choices={[
                { value: 'csv', text: 'a CSV file' },
                { value: 'list', text: 'a JSON list' },
              ]}
              onChange={(chosen) => set({ source: chosen, row_key: '' })}
            />
          </div>
          {isCsv ? (
            <>
              <CsvFields
                file={file}
                chooseFile={chooseFile}
                delimiter={preview.data?.delimiter}
                setDelimiter={setDelimiter}
              />
              {columns.length > 0 && (
                <ColumnInputs
                  columns={columns}
                  names={names}
                  fields={fieldsOf(type)}
                  required={requiredOf(type).filter((name) => !(name in (staticInputs ?? {})))}
                  onChange={(column, name) => setTypedNames({ ...typedNames, [column]: name })}
                />
              )}
            </>
          ) : (
            <JsonField
              label="List of inputs"
              value={listText}
              onChange={setTypedList}
              onSubmit={submit}
              rows={14}
              faultOf={() => listFault}
              actions={list && <span className="text-label text-muted">{countText(list.length, 'item')}</span>}
            />
          )}
          <Options
            draft={draft}
            keys={isCsv ? columns : Object.keys(list?.[0] ?? {})}
            staticText={staticText}
            setStaticText={setStaticText}
          />
          {starting.error && (
            <p role="alert" className="text-table text-failed">
              {starting.error.message}
            </p>
          )}
          <div className="flex flex-wrap items-center gap-3">
            <button type="submit" className="button-main" disabled={!isReady}>
              <Icon name="batch" />
              {starting.isPending ? 'Sending…' : 'Start the batch'}
            </button>
            {isCsv && file === undefined && <span className="text-label text-muted">Choose a file first</span>}
          </div>
        </form>
        <div className="flex min-w-0 flex-col gap-4">
          {isCsv && file && <PreviewSection file={file} preview={preview} names={names} />}
          {type && <SchemaSection type={type} />}
        </div>
      </div>
    </Page>
  );
}

/** The columns that become inputs, with the names of these. */
const usedNames = (columns: readonly string[], names: Record<string, string>): Record<string, string> =>
  Object.fromEntries(columns.flatMap((column) => (names[column] ? [[column, names[column]]] : [])));

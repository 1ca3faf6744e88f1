import type { ReactNode } from 'react';

import { useAgents } from '../../api/catalog';
import { ChoiceField } from '../../components/fields';
import { OverrideEditor } from './override-editor';
import { type Agent, type Changes, OPTIONS } from './replay-changes';

export interface ReplayChangesEditorProps {
  changes: Changes;
  onChange: (changes: Changes) => void;
}

/** Chooses what differs in a replay: the configuration, and options of the agents that do not come from it. */
export function ReplayChangesEditor({
  changes: { configuration, edits },
  onChange,
}: ReplayChangesEditorProps): ReactNode {
  const agents = useAgents();
  const editable = (name: string): Agent[] =>
    agents.filter(({ engine, configurations = [] }) => engine.kind in OPTIONS && !configurations.includes(name));
  const choose = (name: string): void => {
    const names = editable(name).map((agent) => agent.name);
    const kept = Object.entries(edits).filter(([agent]) => names.includes(agent));
    onChange({ configuration: name, edits: Object.fromEntries(kept) });
  };
  return (
    <>
      <ConfigurationField agents={agents} value={configuration} onChange={choose} />
      <OverrideEditor
        agents={editable(configuration)}
        edits={edits}
        onChange={(changed) => onChange({ configuration, edits: changed })}
      />
    </>
  );
}

interface ConfigurationFieldProps {
  agents: readonly Agent[];
  /** Empty: that of the service. */
  value: string;
  onChange: (configuration: string) => void;
}

/** Each configuration is shown with the agents that come from it. */
function ConfigurationField({ agents, value, onChange }: ConfigurationFieldProps): ReactNode {
  const names = [...new Set(agents.flatMap(({ configurations = [] }) => configurations))];
  if (names.length === 0) return null;
  return (
    <ChoiceField
      label="Configuration"
      value={value}
      choices={[
        { value: '', text: 'that of the service' },
        ...names.map((name) => ({ value: name, text: `${name} (${agentsOf(name, agents)})` })),
      ]}
      onChange={onChange}
    />
  );
}

const agentsOf = (configuration: string, agents: readonly Agent[]): string =>
  agents.flatMap(({ name, configurations = [] }) => (configurations.includes(configuration) ? [name] : [])).join(', ');

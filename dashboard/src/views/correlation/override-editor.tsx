import { type ReactNode, useId } from 'react';

import { useApi } from '../../api/queries';
import { ChoiceField } from '../../components/fields';
import { Icon } from '../../components/icon';
import { type Agent, type Edit, type Edits, type Option, OPTIONS } from './replay-changes';

export interface OverrideEditorProps {
  /** The agents that a person may change. */
  agents: readonly Agent[];
  edits: Edits;
  onChange: (edits: Edits) => void;
}

/** Changes agents for a replay: what may be overridden of expressions and of language models. */
export function OverrideEditor({ agents, edits, onChange }: OverrideEditorProps): ReactNode {
  const others = agents.filter(({ name }) => !Object.hasOwn(edits, name));
  const models = [...new Set(agents.flatMap(({ engine }) => engine.model ?? []))];
  if (agents.length === 0) return null;
  return (
    <div className="flex flex-col gap-3">
      {agents
        .filter(({ name }) => Object.hasOwn(edits, name))
        .map((agent) => (
          <AgentEdit
            key={agent.name}
            agent={agent}
            models={models}
            edit={edits[agent.name]!}
            onChange={(edit) => onChange({ ...edits, [agent.name]: edit })}
            remove={() => onChange(Object.fromEntries(Object.entries(edits).filter(([name]) => name !== agent.name)))}
          />
        ))}
      {others.length > 0 && (
        <ChoiceField
          label="Change an agent for this replay"
          value=""
          choices={[{ value: '', text: 'none' }, ...others.map(({ name }) => ({ value: name, text: name }))]}
          onChange={(name) => name !== '' && onChange({ ...edits, [name]: {} })}
        />
      )}
    </div>
  );
}

interface AgentEditProps {
  agent: Agent;
  /** The models that the agents of the configuration have. */
  models: readonly string[];
  edit: Edit;
  onChange: (edit: Edit) => void;
  remove: () => void;
}

function AgentEdit({ agent, models, edit, onChange, remove }: AgentEditProps): ReactNode {
  const { name, engine } = agent;
  const configured = useConfigured(agent);
  return (
    <fieldset className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-3">
      <legend className="px-1 font-strong">{name}</legend>
      {(OPTIONS[engine.kind] ?? []).map((option) => (
        <OptionField
          key={option}
          option={option}
          value={edit[option] ?? configured[option] ?? ''}
          suggestions={option === 'model' ? models : []}
          onChange={(value) => onChange({ ...edit, [option]: value })}
        />
      ))}
      <button type="button" className="button self-start" onClick={remove}>
        <Icon name="cross" />
        Leave {name} as it is
      </button>
    </fieldset>
  );
}

const LABELS: Record<Option, string> = {
  expression: 'Expression',
  instructions: 'Instructions',
  model: 'Model',
  temperature: 'Temperature',
  max_output_tokens: 'Most output tokens',
};

const LONG: readonly Option[] = ['expression', 'instructions'];

interface OptionFieldProps {
  option: Option;
  value: string;
  suggestions: readonly string[];
  onChange: (value: string) => void;
}

function OptionField({ option, value, suggestions, onChange }: OptionFieldProps): ReactNode {
  const id = useId();
  return (
    <label className="flex min-w-0 flex-col gap-1 text-label text-muted">
      {LABELS[option]}
      {LONG.includes(option) ? (
        <textarea
          value={value}
          rows={5}
          placeholder="as configured"
          spellCheck={option === 'instructions'}
          onChange={({ target }) => onChange(target.value)}
          className={`control h-auto w-full resize-y py-1.5 ${option === 'expression' ? 'font-mono' : ''}`}
        />
      ) : (
        <input
          value={value}
          list={option === 'model' ? id : undefined}
          inputMode={option === 'model' ? undefined : 'decimal'}
          placeholder="as configured"
          onChange={({ target }) => onChange(target.value)}
          className="control w-full"
        />
      )}
      {option === 'model' && (
        <datalist id={id}>
          {suggestions.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The texts of the options in the configuration. */
function useConfigured({ definition }: Agent): Edit {
  const digest = definition ?? '';
  const { data } = useApi('/api/v1/definitions/{digest}', { path: { digest } }, { enabled: digest !== '' });
  const { engine = {} } = (data?.options ?? {}) as { engine?: Record<string, unknown> };
  return Object.fromEntries(
    Object.entries(engine).flatMap(([option, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[option, String(value)]] : [],
    ),
  );
}

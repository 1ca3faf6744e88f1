import type { ReactNode } from 'react';

import { useAgents } from '../api/catalog';
import { ChoiceField } from './fields';

/** A filter by one of a few values. The empty one stands for any. */
export function StateField<T extends string>({
  value,
  states,
  onChange,
}: {
  value: T;
  states: readonly T[];
  onChange: (value: T) => void;
}): ReactNode {
  const choices = states.map((state) => ({ value: state, text: state || 'any' }));
  return <ChoiceField label="State" value={value} choices={choices} onChange={onChange} />;
}

/** A filter by agent. It also offers the agent of the URL if the configuration lacks it. */
export function AgentField({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const names = useAgents().map(({ name }) => name);
  const choices = [...new Set(['', value, ...names])].map((name) => ({ value: name, text: name || 'any' }));
  return <ChoiceField label="Agent" value={value} choices={choices} onChange={onChange} />;
}

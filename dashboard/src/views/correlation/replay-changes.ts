import type { Schemas } from '../../api/requests';

export type Agent = Schemas['AgentBody'];

type Request = Schemas['ReplayRequest'];
type Overrides = NonNullable<Request['overrides']>;

export type Option = 'expression' | 'instructions' | 'model' | 'temperature' | 'max_output_tokens';

/** The options that a replay may override, by the kind of an agent's engine. */
export const OPTIONS: Readonly<Record<string, readonly Option[]>> = {
  expression: ['expression'],
  llm: ['instructions', 'model', 'temperature', 'max_output_tokens'],
};

/** The texts of the fields that a person has changed. */
export type Edit = Readonly<Partial<Record<Option, string>>>;

/** By the names of the agents. */
export type Edits = Readonly<Record<string, Edit>>;

/** The differences of a replay from the configuration of the service. */
export interface Changes {
  /** The name of the configuration that agents are taken from. Empty: that of the service. */
  configuration: string;
  edits: Edits;
}

export const NO_CHANGES: Changes = { configuration: '', edits: {} };

const NUMBERS: readonly string[] = ['temperature', 'max_output_tokens'];

/** Returns the fields of the request. */
export const requestOf = ({ configuration, edits }: Changes): Pick<Request, 'configuration' | 'overrides'> => ({
  configuration: configuration === '' ? undefined : configuration,
  overrides: overridesOf(edits),
});

/** Undefined if nothing is changed. An empty field is as configured. */
function overridesOf(edits: Edits): Overrides | undefined {
  const changed = Object.entries(edits)
    .map(([agent, edit]) => [agent, valuesOf(edit)] as const)
    .filter(([, values]) => Object.keys(values).length > 0);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** A text that has another form stays as it is, and the server says what it must be. */
const valuesOf = (edit: Edit): Overrides[string] =>
  Object.fromEntries(
    Object.entries(edit)
      .filter(([, text]) => text.trim() !== '')
      .map(([option, text]) => [option, NUMBERS.includes(option) && !Number.isNaN(Number(text)) ? Number(text) : text]),
  ) as Overrides[string];

import type { Schemas } from '../../api/requests';

type Overrides = NonNullable<Schemas['ReplayRequest']['overrides']>;

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

const NUMBERS: readonly string[] = ['temperature', 'max_output_tokens'];

/** Returns the overrides of the request; undefined if nothing is changed. An empty field is as configured. */
export function overridesOf(edits: Edits): Overrides | undefined {
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

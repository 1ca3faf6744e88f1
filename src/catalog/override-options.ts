/** The options of an engine that a replay or a variant may override. They are data alone, and decide on no code, address or key. */
export const OVERRIDABLE = ['expression', 'instructions', 'temperature', 'max_output_tokens', 'model'] as const;

export type AgentOverride = { readonly [Option in (typeof OVERRIDABLE)[number]]?: string | number };

/** Leaves out all others, such as the share of a variant. */
export const overrideIn = (options: Readonly<Record<string, unknown>>): AgentOverride =>
  Object.fromEntries(
    OVERRIDABLE.flatMap((option) => (options[option] === undefined ? [] : [[option, options[option]]])),
  ) as AgentOverride;

/** An artifact of an execution. */
export interface GatheredInput {
  /** The execution. */
  id: string;
  agent: string;
  key: string;
  /** The correlation of the artifact. */
  correlation: string;
}

/** How many artifacts an execution has. */
export interface Gathered {
  least: number;
  most: number;
}

/** Finds executions with artifacts of several keys, or with more or fewer of them than their agents take. */
export function wronglyGathered(inputs: readonly GatheredInput[], countOf: (agent: string) => Gathered): string[] {
  return [...Map.groupBy(inputs, ({ id }) => id)].flatMap(([id, own]) => {
    const { agent } = own[0]!;
    const { least, most } = countOf(agent);
    return [
      ...(new Set(own.map(({ key }) => key)).size === 1 ? [] : [`${id} of ${agent} has several keys`]),
      ...(own.length >= least && own.length <= most ? [] : [`${id} of ${agent} has ${own.length} artifacts`]),
    ];
  });
}

/** Finds correlations whose artifacts are not in one execution. */
export function wronglyGiven(inputs: readonly GatheredInput[], correlations: readonly string[]): string[] {
  const executions = Map.groupBy(inputs, ({ correlation }) => correlation);
  return correlations.flatMap((correlation) => {
    const count = new Set(executions.get(correlation)?.map(({ id }) => id)).size;
    return count === 1 ? [] : [`${correlation} is in ${count} executions`];
  });
}

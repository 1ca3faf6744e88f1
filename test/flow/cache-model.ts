/** An execution of an agent with `cache` that has ended, whose engine answers with the correlation of its input. */
export interface CachedExecution {
  id: string;
  correlation: string;
  state: string;
  /** Its agent as the file says, which differs if the file changes. */
  definition: string | null;
  /** The execution whose answer it took. */
  cachedFrom: string | null;
  /** The correlations that its outputs name. */
  answers: readonly string[];
  /** How many attempts began. */
  starts: number;
  /** How often its engine was invoked. */
  invocations: number;
}

/**
 * Returns a line for each execution that took the answer of another key or definition, or one that is not the stored one, or whose engine
 * was invoked in the attempt that took it. `keys`: correlation → key.
 */
export function wronglyCached(
  executions: readonly CachedExecution[],
  keys: ReadonlyMap<string, string | number>,
): string[] {
  const byId = new Map(executions.map((execution) => [execution.id, execution]));
  return executions
    .filter(({ state }) => state === 'completed')
    .flatMap(({ correlation, definition, cachedFrom, answers, starts, invocations }) => {
      const giver = cachedFrom === null ? null : byId.get(cachedFrom);
      if (giver === undefined || giver?.state === 'cancelled')
        return [`${correlation} has the answer of ${cachedFrom}, which gave none`];
      const author = giver?.correlation ?? correlation;
      // An attempt that lost its lease may have invoked it.
      const most = giver ? starts - 1 : starts;
      return [
        ...(keys.get(author) === keys.get(correlation) ? [] : [`${correlation} has the answer of another key`]),
        ...(giver && giver.definition !== definition ? [`${correlation} has the answer of another definition`] : []),
        ...(giver?.cachedFrom ? [`${correlation} names ${author}, which took its answer from another one`] : []),
        ...(answers.join() === author ? [] : [`${correlation} has the answers of ${answers.join()}, not of ${author}`]),
        ...(invocations <= most ? [] : [`${correlation} was asked ${invocations} times in ${starts} attempts`]),
        ...(giver || invocations > 0 ? [] : [`${correlation} was not asked, and names no other execution`]),
      ];
    });
}

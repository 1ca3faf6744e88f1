/** The work of this process among those that share its database. A single process does both. */
export class Role {
  /** Whether it answers the API. If false, it answers only health and metrics. */
  readonly api: boolean = true;
  /**
   * Whether it claims executions, fires timers, takes over work of lost processes, advances batches, rolls up counts
   * and deletes expired data. If false, other processes do all of that, including the work that its own requests cause.
   */
  readonly worker: boolean = true;
}

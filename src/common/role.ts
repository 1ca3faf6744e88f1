/** What this process is there for, among those that share its database. One that is alone does both. */
export class Role {
  /** Answers the API. Where false, it answers health and metrics alone. */
  readonly api: boolean = true;
  /**
   * Claims executions, fires timers, takes over what was lost, moves batches on, rolls counts up, and deletes what has expired. Where
   * false, it leaves all of that to other processes, also what its own requests brought about.
   */
  readonly worker: boolean = true;
}

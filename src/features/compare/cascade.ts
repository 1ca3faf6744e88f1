/** An artifact of a correlation, and what led to it. */
export interface CascadeArtifact {
  seq: number;
  id: string;
  type: string;
  produced_by: string;
  /** The execution that published it. Null if a client published it, or if the execution is not known. */
  execution_id: string | null;
  created_at: number;
}

/** An execution that published artifacts of a correlation. */
export interface CascadeExecution {
  id: string;
  agent: string;
  subscription: number;
  /** Its first inputs, in the order in which the agent receives them. */
  inputs: Pick<CascadeArtifact, 'id' | 'type' | 'produced_by'>[];
}

/** The artifacts of a correlation in the order of publishing, and the executions that published them. */
export interface Cascade {
  artifacts: readonly CascadeArtifact[];
  executions: ReadonlyMap<string, CascadeExecution>;
}

/** How a simulated life went. */
export interface Outcome {
  /** The first broken promises; empty if all were kept. */
  breaches: string[];
  trace: string;
  turns: number;
  crashes: number;
  simulatedMs: number;
}

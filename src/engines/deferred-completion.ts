/**
 * What an engine answers whose partner has taken the inputs and gives the outputs later, by the lease that it was told
 * (`EngineContext.leaseToken`): no process runs the execution meanwhile, and no restart repeats it before the agent's `timeout`.
 */
export class DeferredCompletion {}

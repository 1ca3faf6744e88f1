/**
 * An engine returns this if its partner has accepted the inputs and will send the outputs later, under the lease it
 * received (`EngineContext.leaseToken`). Until then no process runs the execution, and no restart repeats it before the
 * agent's `timeout`.
 */
export class DeferredCompletion {}

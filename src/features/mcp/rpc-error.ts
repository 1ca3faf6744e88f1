/** Error codes (JSON-RPC 2.0, section 5.1). */
const CODES = { unknownMethod: -32_601, invalidParams: -32_602 } as const;

/** An error that the protocol answers. Errors of tools are results instead. */
export class RpcError extends Error {
  readonly code: number;

  constructor(kind: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[kind];
  }
}

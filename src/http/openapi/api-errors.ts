import { applyDecorators } from '@nestjs/common';

import { ApiProperty, ApiResponse, schemaPath } from './documentation.js';

/** The body of every error. */
export class ErrorBody {
  @ApiProperty({
    description: 'One sentence that says what to change',
    example: 'timeout: must not be greater than 300',
  })
  detail!: string;
}

/** Every error status of the service: what it means and an example of its `detail`. */
const ERRORS = {
  400: [
    'Invalid input; `detail` names every bad field',
    'timeout: must not be greater than 300; type: must be a string',
  ],
  403: [
    'Refused host or origin',
    'Requests from Origin https://example.com are not allowed; add the origin to cors_origins',
  ],
  404: ['Not found', 'Agent not found: classifer; did you mean classifier?'],
  409: ['In conflict with the current state of the resource', 'Correlation order-4711 is closed'],
  408: ['The body did not arrive in time, or arrived too slowly', 'The body did not arrive within 60 s'],
  413: ['The body is larger than the limit', 'The body is larger than 1048576 bytes'],
  415: ['The body is not JSON', 'Send the body as JSON in UTF-8, with the header Content-Type: application/json'],
  500: ['Unexpected error', "Internal error; see request id 019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80 in the service's log"],
  503: ['Not possible now; `Retry-After` says when to try again', '100000 executions are waiting; try again later'],
} as const satisfies Record<number, [string, string]>;

export type ErrorStatus = keyof typeof ERRORS;

/**
 * Documents the errors of a route; a status with a specific detail is given as `[404, 'Run not found: r1']`. The errors
 * of every route (403, 500, 503) and of every route that reads a body (400, 408, 413, 415) are added to the whole document
 * elsewhere.
 */
export function ApiErrors(...errors: (ErrorStatus | [ErrorStatus, string])[]): MethodDecorator & ClassDecorator {
  return applyDecorators(...errors.map((error) => (Array.isArray(error) ? document(...error) : document(error))));
}

function document(status: ErrorStatus, detail: string = ERRORS[status][1]): MethodDecorator & ClassDecorator {
  return ApiResponse({ status, ...describeError(status, detail) });
}

/** The answer as an OpenAPI response. */
export const describeError = (status: ErrorStatus, detail: string = ERRORS[status][1]) => ({
  description: ERRORS[status][0],
  content: { 'application/json': { schema: { $ref: schemaPath(ErrorBody) }, example: { detail } } },
});

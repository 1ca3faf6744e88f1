import { applyDecorators, type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import type { Request } from 'express';

import { DomainError } from '../../common/domain-error.js';
import { isJsonObject } from '../../common/json.js';
import { unknownFields } from '../../common/names-in-messages.js';
import { ApiBody } from '../openapi/documentation.js';

class WithoutFields implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const body: unknown = context.switchToHttp().getRequest<Request>().body;
    if (body === undefined) return true;
    if (!isJsonObject(body)) throw new DomainError('invalid', 'The body must be a JSON object, or absent');
    const problems = unknownFields(body, []).map(({ name, problem }) => `${name}: ${problem}`);
    if (problems.length > 0) throw new DomainError('invalid', problems.sort().join('; '));
    return true;
  }
}

/**
 * For a route under `/api/v1` whose request has no body fields: a body is optional, and every field in it is unknown.
 */
export const TakesNoFields = (): MethodDecorator =>
  applyDecorators(
    UseGuards(WithoutFields),
    ApiBody({
      required: false,
      schema: { type: 'object', additionalProperties: false },
      examples: { none: { value: {} } },
    }),
  );

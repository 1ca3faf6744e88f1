import { ApiParam } from '@nestjs/swagger';

import { EXECUTION_EXAMPLE } from './execution-body.js';

export const ApiExecutionId = (): MethodDecorator =>
  ApiParam({
    name: 'execution_id',
    description: "The execution's id",
    schema: { type: 'string', format: 'uuid', example: EXECUTION_EXAMPLE.id },
  });

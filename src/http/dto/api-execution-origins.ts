import { ApiProperty } from '../openapi/documentation.js';

// The other artifacts, executions and options that decided on an execution.

export const ApiCancelledBy = (): PropertyDecorator =>
  ApiProperty({
    format: 'uuid',
    required: false,
    description:
      "Artifact that cancelled it, by its agent's `cancel_on` or `singleton`; absent if it was not cancelled, or was cancelled with its correlation",
  });

export const ApiCachedFrom = (): PropertyDecorator =>
  ApiProperty({
    format: 'uuid',
    required: false,
    description: "Execution whose answer it took, by its agent's `cache`; absent for all others",
  });

export const ApiSkippedFor = (): PropertyDecorator =>
  ApiProperty({
    format: 'uuid',
    required: false,
    description:
      "Execution with the same key for which it was cancelled and never ran, by its agent's `singleton`; absent for all others",
  });

export const ApiSupersededBy = (): PropertyDecorator =>
  ApiProperty({
    format: 'uuid',
    required: false,
    description:
      'Artifact that took the place of its input, so that it was cancelled and never ran, by `debounce` of the subscription; absent for all others',
  });

export const ApiVariant = (): PropertyDecorator =>
  ApiProperty({
    required: false,
    description:
      "Variant of its agent with which its last attempt ran, `base` for the agent's own options; absent before its end, if the agent has no variants, and if not known",
  });

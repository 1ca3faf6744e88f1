import { ApiProperty } from '../openapi/documentation.js';

/** Documents what `error_stacks` adds to an error. */
export const ApiCause = (): PropertyDecorator =>
  ApiProperty({
    required: false,
    maxLength: 4_096,
    description:
      "With `error_stacks`: the causes of the error, one line each with its name and message, and the places in the agents' files; absent if there are none",
  });

export const ApiStack = (): PropertyDecorator =>
  ApiProperty({
    required: false,
    maxLength: 4_096,
    description:
      "With `error_stacks`: the error's places in the agents' files, one a line, the innermost first; absent if there are none",
  });

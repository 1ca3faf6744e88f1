import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';

import { describeVisibilityProblem, findVisibilityProblem } from '../../../catalog/parse-visibility.js';
import { Opaque } from '../../../http/validation/opaque.js';

export const IsVisibility = (): PropertyDecorator =>
  applyDecorators(
    Opaque(),
    ValidateBy({
      name: 'isVisibility',
      validator: {
        validate: (value) => findVisibilityProblem(value) === null,
        defaultMessage: (args) => describeVisibilityProblem(findVisibilityProblem(args?.value)!),
      },
    }),
  );

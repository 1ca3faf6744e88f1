import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { describeVisibilityMistake, findVisibilityMistake } from '../../../catalog/given-visibility.js';
import { Opaque } from '../../../http/validation/opaque.js';

export const IsVisibility = (): PropertyDecorator =>
  applyDecorators(
    Opaque(),
    ValidateBy({
      name: 'isVisibility',
      validator: {
        validate: (value) => findVisibilityMistake(value) === null,
        defaultMessage: (args) => describeVisibilityMistake(findVisibilityMistake(args?.value)!),
      },
    }),
  );

import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { visibilityMistake } from '../../../catalog/given-visibility.js';
import { Opaque } from '../../../http/validation/opaque.js';

export const IsVisibility = (): PropertyDecorator =>
  applyDecorators(
    Opaque(),
    ValidateBy({
      name: 'isVisibility',
      validator: {
        validate: (value) => visibilityMistake(value) === null,
        defaultMessage: (args) => visibilityMistake(args?.value) ?? '',
      },
    }),
  );

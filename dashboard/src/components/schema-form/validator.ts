import { type Schema, Validator } from '@cfworker/json-schema';
import type { ValidatorType } from '@rjsf/utils';

/**
 * Tells which alternative of a schema a value is. It checks nothing else: the service does, and a second judge would
 * differ from it in defaults and formats. Ajv, which forms use otherwise, needs `eval`.
 */
export const validator: ValidatorType = {
  isValid: (schema, value) => {
    // It throws for `undefined`, which a field has that was emptied.
    const text = JSON.stringify(value) as string | undefined;
    return text !== undefined && new Validator(schema as Schema, '2020-12').validate(JSON.parse(text)).valid;
  },
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
};

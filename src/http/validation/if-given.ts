import { ValidateIf } from 'class-validator';

/** The field is optional. `null` does not count as absent: it has the wrong type. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

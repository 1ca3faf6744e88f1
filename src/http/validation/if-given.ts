import { ValidateIf } from 'class-validator';

/** The field may be left out; `null` is not the same, and has the wrong type. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

import 'reflect-metadata';

import { ValidateIf } from './class-validator.js';

/** The field is optional. `null` does not count as absent: it has the wrong type. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

const opaqueByClass = new Map<object, Set<string>>();

/**
 * Marks a body field that holds a caller's own data, such as a payload. The validation pipe passes it on as it was
 * parsed, because class-transformer would copy all of it and interpret its keys. The field's other validation rules
 * still apply to the field itself.
 */
export function Opaque(): PropertyDecorator {
  return (prototype, property) => {
    const fields = opaqueByClass.get(prototype.constructor) ?? new Set();
    opaqueByClass.set(prototype.constructor, fields.add(String(property)));
  };
}

/** The marked fields of the class and its base classes. */
export function opaqueFields(target: object): Set<string> {
  const fields = new Set<string>();
  for (let current: object | null = target; current; current = Object.getPrototypeOf(current) as object | null) {
    for (const field of opaqueByClass.get(current) ?? []) fields.add(field);
  }
  return fields;
}

const IGNORES = Symbol('ignores unknown fields');

/**
 * Marks a body of Interface A (docs/api.md, "The routes"), because older clients send fields that this service does not
 * know. In every other body an unknown field is a 400: otherwise a misspelled `visibility` would publish to everyone.
 */
export const IgnoresUnknownFields = (): ClassDecorator => (target) => Reflect.defineMetadata(IGNORES, true, target);

/** Whether the class or one of its base classes is marked. */
export const ignoresUnknownFields = (target: object): boolean => Reflect.getMetadata(IGNORES, target) === true;

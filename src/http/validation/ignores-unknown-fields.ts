import 'reflect-metadata';

const IGNORES = Symbol('ignores unknown fields');

/**
 * Marks a body of Interface A, whose older clients send fields that this service does not know. In every other body such a field is a
 * 400: a misspelled `visibility` would publish to all.
 */
export const IgnoresUnknownFields = (): ClassDecorator => (target) => Reflect.defineMetadata(IGNORES, true, target);

/** Also where a class that it extends is marked. */
export const ignoresUnknownFields = (target: object): boolean => Reflect.getMetadata(IGNORES, target) === true;

import 'reflect-metadata';

const IGNORES = Symbol('ignores unknown fields');

/**
 * Marks a body of Interface A (docs/api.md, "The routes"), because older clients send fields that this service does not
 * know. In every other body an unknown field is a 400: otherwise a misspelled `visibility` would publish to everyone.
 */
export const IgnoresUnknownFields = (): ClassDecorator => (target) => Reflect.defineMetadata(IGNORES, true, target);

/** Whether the class or one of its base classes is marked. */
export const ignoresUnknownFields = (target: object): boolean => Reflect.getMetadata(IGNORES, target) === true;

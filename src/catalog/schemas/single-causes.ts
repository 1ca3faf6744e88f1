import type { ErrorObject } from 'ajv';

import { hasOwnMessage, meantKey } from './schema-errors.js';

/**
 * Leaves out errors that follow from another one, so that one wrong key gives one error: what each branch of an `anyOf`
 * or `oneOf` misses, and a required key that is there under a misspelt name.
 */
export function singleCauses(errors: readonly ErrorObject[]): ErrorObject[] {
  const meant = new Set(
    errors
      .filter(({ keyword }) => keyword === 'additionalProperties')
      .map((error) => `${error.instancePath}/${meantKey(error)}`),
  );
  const isMisspelt = ({ keyword, instancePath, params }: ErrorObject): boolean =>
    keyword === 'required' && meant.has(`${instancePath}/${params['missingProperty']}`);
  return errors.filter(isBranching).reduce(
    (left, choice) => withoutBranches(left, choice),
    errors.filter((error) => !isMisspelt(error)),
  );
}

const isBranching = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';

/** Keeps the choice if it has its own message, otherwise the error of its first branch that comes furthest. */
function withoutBranches(errors: ErrorObject[], choice: ErrorObject): ErrorObject[] {
  const inBranches = errors.filter((error) => error !== choice && isBelow(error, choice));
  const hasMessage = hasOwnMessage(choice.parentSchema);
  const deepest = inBranches.toSorted((a, b) => depth(b) - depth(a))[0];
  const kept = hasMessage ? choice : (deepest ?? choice);
  return errors.filter((error) => error === kept || (error !== choice && !inBranches.includes(error)));
}

const isBelow = (error: ErrorObject, choice: ErrorObject): boolean =>
  error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`);

const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;

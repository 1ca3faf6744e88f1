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
  const follows = (error: ErrorObject): boolean =>
    isMisspelt(error) || errors.some((each) => isMisspelt(each) && isInBranch(each, error));
  return errors.filter(isBranching).reduce(
    (left, choice) => withoutBranches(left, choice),
    errors.filter((error) => !follows(error)),
  );
}

const isBranching = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';

/** Keeps the choice if it has its own message, otherwise the error of its first branch that comes furthest. */
function withoutBranches(errors: ErrorObject[], choice: ErrorObject): ErrorObject[] {
  const inBranches = errors.filter((error) => isInBranch(error, choice));
  const hasMessage = hasOwnMessage(choice.parentSchema);
  const deepest = inBranches.toSorted((a, b) => depth(b) - depth(a))[0];
  const kept = hasMessage ? choice : (deepest ?? choice);
  return errors.filter((error) => error === kept || (error !== choice && !inBranches.includes(error)));
}

/** Errors of the schemas around and beside the choice are not of a branch. Those of a schema that a branch refers to are. */
function isInBranch(error: ErrorObject, choice: ErrorObject): boolean {
  if (!isBranching(choice) || !isAtOrBelow(error.instancePath, choice.instancePath)) return false;
  const around = choice.schemaPath.slice(0, choice.schemaPath.lastIndexOf('/'));
  return error !== choice && (!isBelow(error.schemaPath, around) || isBelow(error.schemaPath, choice.schemaPath));
}

const isBelow = (path: string, above: string): boolean => path.startsWith(`${above}/`);

const isAtOrBelow = (path: string, above: string): boolean => path === above || isBelow(path, above);

const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;

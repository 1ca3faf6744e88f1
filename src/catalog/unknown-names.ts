import { DomainError } from '../common/domain-error.js';
import { nearestName } from '../common/names-in-messages.js';
import { shown } from '../common/short-text.js';
import type { Catalog } from './catalog.js';

export const unknownType = (name: string, catalog: Catalog): string =>
  `Unknown artifact type: ${adviceOn(name, catalog)}`;

export const typeNotFound = (name: string, catalog: Catalog): string =>
  `Artifact type not found: ${adviceOn(name, catalog)}`;

function adviceOn(name: string, catalog: Catalog): string {
  const nearest = nearestName(
    name,
    catalog.types.map((type) => type.name),
  );
  return `${shown(name)}${nearest === undefined ? '; GET /api/v1/artifact-types lists the known ones' : `; did you mean ${nearest}?`}`;
}

/** DomainError `not_found`. The message has no suggestion and must not change (docs/api.md, "Errors"). */
export const unknownAgent = (name: string): DomainError =>
  new DomainError('not_found', `Agent not found: ${shown(name)}`);

import { DomainError } from '../common/domain-error.js';
import { nearestName } from '../common/names-in-messages.js';
import { shown } from '../common/short-text.js';
import type { Catalog } from './catalog.js';

export const unknownType = (name: string, catalog: Catalog): string =>
  `Unknown artifact type: ${adviceOn(name, catalog)}`;

export const typeNotFound = (name: string, catalog: Catalog): string =>
  `Artifact type not found: ${adviceOn(name, catalog)}`;

const adviceOn = (name: string, { types }: Catalog): string =>
  shown(name) + (meant(name, types) ?? '; GET /api/v1/artifact-types lists the known ones');

/** DomainError `not_found`. `known` are the agents to choose from. */
export const unknownAgent = (name: string, known: readonly { name: string }[]): DomainError =>
  new DomainError('not_found', `Agent not found: ${shown(name)}${meant(name, known) ?? ''}`);

/** The nearest of the known names, to be appended to a message; undefined if none is close. */
export function meant(name: string, known: readonly { name: string }[]): string | undefined {
  const nearest = nearestName(
    name,
    known.map((each) => each.name),
  );
  return nearest && `; did you mean ${nearest}?`;
}

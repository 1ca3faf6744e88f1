import { nearestName } from '../../common/names-in-messages.js';
import type { Catalog } from '../catalog.js';
import { type AgentDefinition, WORKFLOW_ERROR } from '../definitions.js';
import type { AgentWarning } from './trigger-warnings.js';

/** Longer names with more differences are often two names. */
const MOST_DIFFERENCES = 2;

/**
 * Warns about a type that is not declared and has nearly the name of a declared one, or that no agent publishes and has
 * nearly the name of a published one. Each name is reported where it occurs first.
 */
export function misspeltTypes(catalog: Catalog, declared: readonly string[]): AgentWarning[] {
  const published = catalog.agents.flatMap(({ outputs }) => outputs.map(({ type }) => type));
  const seen = new Set([...declared, WORKFLOW_ERROR]);
  const known = [...seen];
  const produced = new Set(published);
  return catalog.agents.flatMap(mentions).flatMap(({ name, ...at }) => {
    if (seen.has(name)) return [];
    seen.add(name);
    const candidates = produced.has(name) ? known : [...known, ...produced];
    const nearest = nearestName(name, candidates.filter(differsInLetters(name)), MOST_DIFFERENCES);
    if (nearest === undefined) return [];
    return [{ ...at, message: `${name} is not declared under types; did you mean ${nearest}?` }];
  });
}

interface Mention {
  name: string;
  agent: string;
  below: (string | number)[];
}

const mentions = ({ name: agent, subscriptions, outputs, cancelOn }: AgentDefinition): Mention[] => [
  ...subscriptions.flatMap(({ index, types }) =>
    types.map((name, position) => ({ name, agent, below: ['consumes', index, 'types', position] })),
  ),
  ...outputs.map(({ type: name }, index) => ({ name, agent, below: ['publishes', index, 'type'] })),
  ...(cancelOn?.types ?? []).map((name, index) => ({ name, agent, below: ['cancel_on', 'types', index] })),
];

/** `Step1` and `Step2` are different on purpose. */
const differsInLetters =
  (name: string) =>
  (other: string): boolean =>
    other.replace(/\d+/g, '') !== name.replace(/\d+/g, '');

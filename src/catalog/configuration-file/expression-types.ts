import {
  predicateProblem,
  type Scope,
  typed,
  type TypedExpression,
  type TypeFinding,
} from '../../cel/types/type-check.js';
import { listOf, mapOf, oneOf, union, type ValueType } from '../../cel/types/value-type.js';
import { listed, nearestName } from '../../common/names-in-messages.js';
import type { Catalog } from '../catalog.js';
import type { AgentDefinition, Subscription } from '../definitions.js';
import { payloadType } from '../schemas/payload-type.js';
import { answerProblems } from './answer-problems.js';
import { type Expected, KEY, PRIORITY, valueProblem, WINDOW_KEY } from './expected-values.js';

interface SubscriptionFindings {
  /** The path inside the subscription. */
  below: string[];
  findings: readonly TypeFinding[];
}

/** The inputs that an expression sees. */
interface Inputs {
  /** The type of `payload`. */
  view: ValueType;
  /** Each input has one of these. */
  types: readonly string[];
  /** The largest number of inputs. */
  most: number;
}

/**
 * Returns the findings of the declared types in `where`, `priority`, `join.by`, `batch.key` and `debounce.key` of a
 * subscription. Expressions for which `isWrong` is true do not compile, and are left out.
 */
export function subscriptionFindings(
  subscription: Subscription,
  catalog: Catalog,
  isWrong: (below: string[]) => boolean,
): SubscriptionFindings[] {
  const { where, priorityBy, join, batch, debounce } = subscription;
  const wherePath = ['where'];
  const priorityPath = ['priority'];
  const keys: [below: string[], source: string | null | undefined][] = [
    [['join', 'by'], join?.by],
    [['batch', 'key'], batch?.key],
    [['debounce', 'key'], debounce?.key],
  ];
  return [
    ...(where === null || isWrong(wherePath)
      ? []
      : [{ below: wherePath, findings: predicateFindings(where, subscription, catalog) }]),
    ...(priorityBy === null || isWrong(priorityPath)
      ? []
      : [{ below: priorityPath, findings: priorityFindings(priorityBy, subscription, catalog) }]),
    ...keys.flatMap(([below, source]) =>
      source == null || isWrong(below) ? [] : [{ below, findings: keyFindings(source, subscription, catalog) }],
    ),
  ];
}

function predicateFindings(where: string, subscription: Subscription, catalog: Catalog): TypeFinding[] {
  // It judges an artifact before the batch window has it, but a join when it is complete.
  const most = mostInputs({ ...subscription, batch: null });
  const checked = typedOver(where, { view: viewOf(subscription, catalog), types: subscription.types, most }, catalog);
  return withProblem(checked, predicateProblem(checked));
}

/** The priority is computed for an execution, with all its inputs. */
function priorityFindings(source: string, subscription: Subscription, catalog: Catalog): TypeFinding[] {
  const inputs = { view: inputsOf(subscription, catalog), types: subscription.types, most: mostInputs(subscription) };
  const checked = typedOver(source, inputs, catalog);
  return withProblem(checked, valueProblem(source, checked, PRIORITY));
}

const withProblem = ({ findings }: TypedExpression, message: string | null): TypeFinding[] =>
  message === null ? [...findings] : [...findings, { message, offset: 0, warning: false }];

/** The key of a join or a window is computed for each artifact alone. */
function keyFindings(by: string, subscription: Subscription, catalog: Catalog): TypeFinding[] {
  const artifact = { view: eitherPayload(subscription, catalog), types: subscription.types, most: 1 };
  const checked = typedOver(by, artifact, catalog);
  return withProblem(checked, valueProblem(by, checked, WINDOW_KEY));
}

/** Chooses by what it sees, so that a part of it may be meant for some inputs only. */
const DISTINGUISHES = /\?|\bhas\s*\(/;

/**
 * Returns the findings of the declared types in the key of `cancel_on`. It is computed for executions, and for the
 * artifacts that cancel them.
 */
export function cancelKeyFindings({ cancelOn, ...agent }: AgentDefinition, catalog: Catalog): readonly TypeFinding[] {
  // Types that are wrong are an error, and absent here.
  if (!cancelOn || cancelOn.types.length === 0) return [];
  const inputs = inputsOfAgent(agent, catalog);
  const cancelling = {
    view: union(cancelOn.types.map((name) => typeNamed(name, catalog))),
    types: cancelOn.types,
    most: 1,
  };
  const together = {
    view: union([inputs.view, cancelling.view]),
    types: [...inputs.types, ...cancelOn.types],
    most: inputs.most,
  };
  const findings = (DISTINGUISHES.test(cancelOn.key) ? [together] : [inputs, cancelling]).flatMap((seen) => {
    const checked = typedOver(cancelOn.key, seen, catalog);
    return withProblem(checked, valueProblem(cancelOn.key, checked, KEY));
  });
  return [...new Map(findings.map((finding) => [`${finding.offset} ${finding.message}`, finding])).values()];
}

/** Returns the findings of the declared types in an expression over the inputs of the agent's executions. */
export function inputFindings(
  { source, expected }: { source: string; expected: Expected },
  agent: AgentDefinition,
  catalog: Catalog,
): TypeFinding[] {
  const checked = typedOver(source, inputsOfAgent(agent, catalog), catalog);
  return withProblem(checked, valueProblem(source, checked, expected));
}

/** Returns the findings of the declared types in the expression of an agent, whose result is its answer. */
export function answerFindings(source: string, agent: AgentDefinition, catalog: Catalog): TypeFinding[] {
  const checked = typedOver(source, inputsOfAgent(agent, catalog), catalog);
  const published = new Map(agent.outputs.map(({ type }) => [type, typeNamed(type, catalog)]));
  const problems = answerProblems(checked.type, published).map(({ message, origin }) => ({
    message,
    offset: origin ?? 0,
    warning: false,
  }));
  return [...checked.findings, ...problems];
}

/** The inputs that the agent may get. */
const inputsOfAgent = ({ subscriptions }: Pick<AgentDefinition, 'subscriptions'>, catalog: Catalog): Inputs => ({
  view: union(subscriptions.map((subscription) => inputsOf(subscription, catalog))),
  types: subscriptions.flatMap(({ types }) => types),
  most: Math.max(1, ...subscriptions.map(mostInputs)),
});

/** The type of `payload` for an execution of this subscription. */
const inputsOf = (subscription: Subscription, catalog: Catalog): ValueType =>
  subscription.batch ? listOf(eitherPayload(subscription, catalog)) : viewOf(subscription, catalog);

/** How many inputs an execution of this subscription has at most. A caller may give a batch window any number. */
const mostInputs = ({ batch, join, types }: Pick<Subscription, 'batch' | 'join' | 'types'>): number =>
  batch ? Infinity : join ? types.length : 1;

/** A join is seen as an object keyed by type name, every other input as its payload. */
function viewOf(subscription: Subscription, catalog: Catalog): ValueType {
  if (!subscription.join) return eitherPayload(subscription, catalog);
  const payloads = new Map(subscription.types.map((name) => [name, typeNamed(name, catalog)]));
  return mapOf(payloads, (field) => {
    const having = [...payloads].filter(([, { fields }]) => typeof fields?.find(field) === 'object');
    const nearest = nearestName(field, payloads.keys());
    if (having.length === 0 && nearest !== undefined) return null;
    const names = (having.length > 0 ? having : [...payloads]).map(([name]) => `payload${accessTo(name)}.${field}`);
    return `a join sees its payloads by their types: write ${listed(names, 'or')}`;
  });
}

const accessTo = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

const eitherPayload = ({ types }: Subscription, catalog: Catalog): ValueType =>
  union(types.map((name) => typeNamed(name, catalog)));

const payloadTypes = new WeakMap<object, ValueType>();

/** The payloads of a type. Many agents may share it. */
function typeNamed(name: string, catalog: Catalog): ValueType {
  const type = catalog.type(name);
  if (!type) return payloadType(null);
  const known = payloadTypes.get(type) ?? payloadType(type.schema);
  payloadTypes.set(type, known);
  return known;
}

/** An expression that asks for the size may name each input only where it exists. */
const ASKS_FOR_SIZE = /\bsize\s*\(/;

const typedOver = (source: string, { most, ...inputs }: Inputs, catalog: Catalog): TypedExpression =>
  typed(source, scopeOf({ ...inputs, most: ASKS_FOR_SIZE.test(source) ? Infinity : most }, catalog));

function scopeOf({ view, types, most }: Inputs, catalog: Catalog): Scope {
  const artifact = mapOf(
    new Map<string, ValueType>([
      ['id', oneOf('string')],
      ['type', { ...oneOf('string'), values: types }],
      ['payload', union(types.map((name) => typeNamed(name, catalog)))],
      ['tags', listOf(oneOf('string'))],
      ['produced_by', oneOf('string')],
      ['correlation_id', oneOf('string')],
      ['partition_key', oneOf('string', 'null')],
      ['version', oneOf('double')],
      ['created_at', oneOf('string')],
    ]),
  );
  return new Map([
    ['payload', view],
    ['artifact', artifact],
    ['inputs', listOf(artifact, most)],
  ]);
}

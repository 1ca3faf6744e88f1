import type { AgentDefinition } from '../definitions.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import { modelProblem } from '../model-choice.js';
import { OVERRIDABLE } from '../override-options.js';
import { overriddenAgent } from '../overrides.js';
import type { Variant } from '../variants.js';
import type { EngineChecks, EngineFinding, EngineKind } from './engine-kind.js';
import type { ParsedAgent } from './parse-agents.js';

/** Checks each agent with the options of its variants, as its engine checks those of the agent. */
export async function checkVariants(
  kinds: readonly EngineKind[],
  checks: EngineChecks,
  parsed: readonly ParsedAgent[],
  report: Report,
): Promise<void> {
  for (const [position, agent] of checks.catalog.agents.entries()) {
    const { path } = parsed[position]!;
    const kind = kinds.find((candidate) => candidate.kind === agent.engine.kind);
    if (!agent.variants || !kind || report.errors.touches([...path, 'engine'])) continue;
    // The agent itself has these too, and they are reported there.
    const known = await kind.check(agent, checks);
    for (const variant of agent.variants.all) {
      const at = [...path, 'variants', variant.name];
      if (report.errors.touches(at)) continue;
      checkOptions(agent, variant, kinds, kind, checks, at, report.errors);
      if (report.errors.touches(at)) continue;
      const found = await kind.check(overriddenAgent(agent, variant.override), checks);
      for (const finding of found) if (!known.some((one) => isSame(one, finding))) add(finding, variant, at, report);
    }
  }
}

function checkOptions(
  agent: AgentDefinition,
  { override }: Variant,
  kinds: readonly EngineKind[],
  kind: EngineKind,
  { catalog }: EngineChecks,
  at: Path,
  errors: Diagnostics,
): void {
  for (const option of OVERRIDABLE) {
    if (override[option] === undefined || hasOption(kind, option)) continue;
    const others = kinds.filter((each) => hasOption(each, option)).map((each) => each.kind);
    errors.add(
      [...at, option],
      `is an option of ${others.join(' and ')} agents, but ${agent.name} has the engine ${kind.kind}`,
    );
  }
  const { model } = override;
  if (model === undefined || errors.touches([...at, 'model'])) return;
  const problem = modelProblem(agent, String(model), catalog);
  if (problem !== null) errors.add([...at, 'model'], problem);
}

const hasOption = ({ optionsSchema }: EngineKind, option: string): boolean =>
  Object.hasOwn((optionsSchema.properties ?? {}) as object, option);

const isSame = (one: EngineFinding, other: EngineFinding): boolean =>
  one.message === other.message && one.path.join() === other.path.join();

/** A finding about an option that only the engine has is one about the variant, because without it there is none. */
function add({ path, message, warning, offset }: EngineFinding, { override }: Variant, at: Path, report: Report): void {
  const isOwn = Object.hasOwn(override, path[0] ?? '');
  (warning ? report.warnings : report.errors).add(
    isOwn ? [...at, ...path] : at,
    message,
    isOwn && offset !== undefined ? { offset } : undefined,
  );
}

import { durationText, parseDuration, parseIsoDuration } from '../../common/durations.js';
import type { AgentOptions, OutputOptions, Remaining } from '../agent-options.js';
import { EXTERNAL, WORKFLOW_ERROR } from '../definitions.js';
import { checkDuration } from './duration-checks.js';
import type { Findings, Path, Report } from '../mistakes.js';
import { checkSubscription } from './subscription-checks.js';

/** Finds what an agent's schema cannot see. `maxTtlMs`: null where the settings are wrong. */
export function checkAgent(options: Remaining<AgentOptions>, maxTtlMs: number | null, path: Path, report: Report): void {
  for (const [index, subscription] of (options.consumes ?? []).entries()) {
    if (subscription) checkSubscription(subscription, [...path, 'consumes', index], report);
  }
  const { mistakes } = report;
  checkOutputs(options.publishes ?? [], maxTtlMs, [...path, 'publishes'], mistakes);
  checkDuration(options.timeout, [...path, 'timeout'], mistakes);
  checkRetry(options.retry ?? {}, [...path, 'retry'], mistakes);
}

/** Names by which a client or the service itself publishes, or which another agent has. */
export function checkAgentName(name: string, taken: ReadonlySet<string>, path: Path, mistakes: Findings): void {
  if (name === EXTERNAL) mistakes.add(path, `${EXTERNAL} is what clients publish as; choose another name`);
  if (taken.has(name)) mistakes.add(path, `another agent is named ${name} already`);
}

function checkOutputs(outputs: (Remaining<OutputOptions> | undefined)[], maxTtlMs: number | null, path: Path, mistakes: Findings): void {
  const seen = new Set<string>();
  for (const [index, output] of outputs.entries()) {
    if (output?.type === undefined) continue;
    const { type, visibility } = output;
    if (seen.has(type)) mistakes.add([...path, index, 'type'], `${type} is published twice; keep one`);
    if (type === WORKFLOW_ERROR) mistakes.add([...path, index, 'type'], `${WORKFLOW_ERROR} is published by the service alone; throw an error instead`);
    seen.add(type);
    const ttl = visibility && 'ttl' in visibility ? visibility.ttl : undefined;
    if (ttl !== undefined) checkTtl(ttl, maxTtlMs, [...path, index, 'visibility', 'ttl'], mistakes);
  }
}

function checkTtl(ttl: string, maxTtlMs: number | null, path: Path, mistakes: Findings): void {
  const milliseconds = parseIsoDuration(ttl);
  if (milliseconds === null) mistakes.add(path, 'must be an ISO 8601 duration such as PT30M, PT1H or P2D (no years or months)');
  else if (maxTtlMs !== null && milliseconds > maxTtlMs) mistakes.add(path, `must be at most ${durationText(maxTtlMs)}, which server.max_ttl says`);
}

function checkRetry(retry: NonNullable<Remaining<AgentOptions>['retry']>, path: Path, mistakes: Findings): void {
  checkDuration(retry.delay, [...path, 'delay'], mistakes, { zero: true });
  checkDuration(retry.max_delay, [...path, 'max_delay'], mistakes, { zero: true });
  const delay = parseDuration(retry.delay ?? '1s');
  const longest = retry.max_delay === undefined ? null : parseDuration(retry.max_delay);
  if (delay !== null && longest !== null && longest < delay) mistakes.add([...path, 'max_delay'], 'must not be shorter than delay (default 1s)');
}

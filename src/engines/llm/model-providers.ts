import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { LanguageModel } from 'ai';

import { isJsonObject, type JsonObject } from '../../common/json.js';
import { isInstalled, missingPackages, needs } from '../../common/optional-packages.js';
import type { Environment } from '../../config/environment.js';
import { EngineFailure } from '../engine-answers.js';

/** The location of a model and the key that it needs. */
export interface ModelSource {
  /** The part of `model` before the slash. */
  provider: string;
  /** The part of `model` after the slash. */
  name: string;
  baseUrl: string | undefined;
  /** The environment variable that holds the key. */
  keyVariable: string;
  key: string | undefined;
  /** True if no request works without the key. */
  needsKey: boolean;
  /** True if the provider accepts a JSON Schema for the answer. Otherwise the instructions must contain it. */
  takesSchema: boolean;
}

type MakeModel = (name: string) => LanguageModel;

interface ProviderSettings {
  apiKey?: string;
  baseURL?: string;
  fetch: typeof fetch;
}

interface KnownProvider {
  package: string;
  keyVariable: string;
  create(settings: ProviderSettings): Promise<MakeModel>;
}

const SDK = 'ai';
const COMPATIBLE = '@ai-sdk/openai-compatible';

/** Imported when their first model is prepared, so that a catalog without them does not pay for them. */
const KNOWN: Record<string, KnownProvider> = {
  openai: {
    package: '@ai-sdk/openai',
    keyVariable: 'OPENAI_API_KEY',
    create: async (settings) => (await import('@ai-sdk/openai')).createOpenAI(settings),
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    create: async (settings) => (await import('@ai-sdk/anthropic')).createAnthropic(settings),
  },
  google: {
    package: '@ai-sdk/google',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    create: async (settings) => (await import('@ai-sdk/google')).createGoogleGenerativeAI(settings),
  },
};

export function modelSource(model: string, baseUrl: string | undefined, environment: Environment): ModelSource {
  const slash = model.indexOf('/');
  const provider = model.slice(0, slash);
  const known = KNOWN[provider];
  const keyVariable = known?.keyVariable ?? `${provider.toUpperCase().replaceAll('-', '_')}_API_KEY`;
  return {
    provider,
    name: model.slice(slash + 1),
    baseUrl,
    keyVariable,
    key: environment[keyVariable] || undefined,
    needsKey: known !== undefined,
    takesSchema: known !== undefined,
  };
}

/** Returns the problem with a provider for `starling check`, or null. */
export async function providerProblem(
  { provider, baseUrl }: ModelSource,
  baseDirectory: string,
): Promise<string | null> {
  const own = KNOWN[provider]?.package ?? (baseUrl === undefined ? null : COMPATIBLE);
  if (own !== null) return missingPackages(`the provider ${provider}`, [SDK, own]);
  const found = await installedProvider(provider, baseDirectory);
  return 'problem' in found ? found.problem : missingPackages(`the provider ${provider}`, [SDK]);
}

/**
 * Loads the model of an agent. `fetch` sends the requests to the model's server. Rejects if the model cannot be used,
 * with an EngineFailure if another attempt would not change that.
 */
export type LoadModel = (
  source: ModelSource,
  baseDirectory: string,
  fetch: typeof globalThis.fetch,
  agent: string,
) => Promise<LanguageModel>;

export async function loadModel(
  source: ModelSource,
  baseDirectory: string,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const { provider, name, baseUrl, key } = source;
  if (source.needsKey && key === undefined) {
    // The environment of a process does not change, so another attempt would fail too.
    throw new EngineFailure(
      'model',
      `the environment variable ${source.keyVariable} is not set in Starling's environment`,
      { isFinal: true },
    );
  }
  const settings = {
    fetch,
    ...(key !== undefined && { apiKey: key }),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
  };
  if (KNOWN[provider]) return (await KNOWN[provider].create(settings))(name);
  if (baseUrl !== undefined) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({
      ...settings,
      baseURL: baseUrl,
      name: provider,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(name);
  }
  const found = await installedProvider(provider, baseDirectory);
  if ('problem' in found) throw new Error(found.problem);
  return found.create(settings)(name);
}

type Installed = { create: (settings: ProviderSettings) => MakeModel } | { problem: string };

/**
 * Finds a provider package that is installed next to the configuration file, in a folder above it, or with this
 * program.
 */
async function installedProvider(provider: string, baseDirectory: string): Promise<Installed> {
  const name = `@ai-sdk/${provider.toLowerCase()}`;
  const manifest =
    findPackage(name, join(resolve(baseDirectory), 'starling.yaml')) ?? findPackage(name, import.meta.filename);
  if (manifest === undefined) {
    const missing = isInstalled(SDK) ? [name] : [SDK, name];
    return { problem: `${needs(`the provider ${provider}`, missing)}, or set base_url to an OpenAI-compatible server` };
  }
  try {
    const entry = entryOf(JSON.parse(await readFile(manifest, 'utf8')) as JsonObject);
    const module = (await import(pathToFileURL(join(dirname(manifest), entry)).href)) as Record<string, unknown>;
    const create = creatorIn(module, provider);
    return create ? { create } : { problem: `${name} exports nothing that makes a provider (create...)` };
  } catch (error) {
    return { problem: `${name} cannot be loaded: ${(error as Error).message}` };
  }
}

function findPackage(name: string, from: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(from));
  } catch {
    return undefined; // Node throws if there is no package.
  }
}

/** The file that `import` would load. */
function entryOf({ exports, main }: JsonObject): string {
  const root = isJsonObject(exports) && '.' in exports ? exports['.']! : exports;
  const named = isJsonObject(root) ? (root.import ?? root.default) : root;
  const file = isJsonObject(named) ? named.default : named;
  return typeof file === 'string' ? file : typeof main === 'string' ? main : 'index.js';
}

/** Each package exports one `create...` that is roughly named after it: createMistral, createXai, createVertex. */
function creatorIn(
  module: Record<string, unknown>,
  provider: string,
): ((settings: ProviderSettings) => MakeModel) | undefined {
  const names = Object.keys(module).filter((name) => /^create[A-Z]/.test(name) && typeof module[name] === 'function');
  const own = `create${provider.replaceAll('-', '')}`.toLowerCase();
  const name = names.find((candidate) => candidate.toLowerCase() === own) ?? names[0];
  return name === undefined ? undefined : (module[name] as (settings: ProviderSettings) => MakeModel);
}

import { findPackageJSON } from 'node:module';

import { MANIFEST } from './manifest.js';

/**
 * Says which packages `what` needs and how to install those that are missing, or returns null if there is none.
 * An installation of this program does not bring packages that only some configurations need.
 */
export function missingPackages(what: string, names: readonly string[]): string | null {
  const missing = names.filter((name) => !isInstalled(name));
  return missing.length === 0 ? null : needs(what, missing);
}

/** Names the packages and the command that installs them in versions that this program works with. */
export function needs(what: string, names: readonly string[]): string {
  const listed = names.length === 1 ? `package ${names[0]}` : `packages ${inWords(names)}`;
  return `${what} needs the ${listed}: run npm install ${names.map(withVersion).join(' ')}`;
}

const inWords = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

export function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false; // Node throws if it does not find the package.
  }
}

/** A range such as `^4.0.1` becomes `4`, and `^0.301.0` becomes `0.301`, because shells treat `^` differently. */
function withVersion(name: string): string {
  const compatible = /^\^(0\.\d+|\d+)/.exec(MANIFEST.peerDependencies[name] ?? '')?.[1];
  return compatible === undefined ? name : `${name}@${compatible}`;
}

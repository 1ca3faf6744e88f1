import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { packageFile } from '../common/package-files.js';

/**
 * The folders with Starling's own code that runs, in a checkout too. In an installation they are below `node_modules`. `src`
 * beside the built program may be a user's, in a container that has it in the same folder.
 */
const OWN = ['bin', import.meta.filename.endsWith('.ts') ? 'src' : 'dist'].map(packageFile);

/** Matches a line of a stack: `at name (file:///folder/a:1:2)`, `at async /folder/a:1:2`. */
const FRAME =
  /^\s+at (?:(?<name>.*?) \()?(?:async )?(?<file>(?:file:\/\/|\/|[A-Za-z]:[\\/]).*):(?<line>\d+):(?<column>\d+)\)?$/;

const MOST_FRAMES = 20;

/** Limits of a stack and of a line of it, because code can set any text as its stack. */
const LONGEST_STACK = 65_536;
const LONGEST_LINE = 2_000;

/** Finds the user's files in the stacks of errors: those that belong neither to Node, nor to a package, nor to Starling. */
export class UserFrames {
  private readonly folder: string;

  /** `baseDirectory`: an existing folder, where the paths in frames start. */
  constructor(baseDirectory: string) {
    // Stacks have real paths.
    this.folder = realpathSync(baseDirectory);
  }

  /** Returns at most 20 frames, the innermost first, as V8 shows them: `at name (path:9:31)`. */
  of(error: Stacked): string[] {
    return this.framesOf(error)
      .slice(0, MOST_FRAMES)
      .map(({ name, place }) => (name === undefined ? `at ${place}` : `at ${name} (${place})`));
  }

  /** Returns the innermost place in the user's files, such as `path:9:31`. */
  firstPlace(error: Stacked): string | null {
    return this.framesOf(error)[0]?.place ?? null;
  }

  /** Returns the path of one of the user's files as frames show it; null for another file. `location`: a path or a file URL. */
  pathOf(location: string): string | null {
    const path = pathAt(location);
    if (path === null || path.includes(`${sep}node_modules${sep}`)) return null;
    if (OWN.some((folder) => path.startsWith(folder + sep))) return null;
    return relative(this.folder, path).replaceAll('\\', '/');
  }

  private framesOf({ stack, message }: Stacked): Frame[] {
    // The stack begins with the message, which may look like frames.
    const begin = stack.includes(message) ? stack.indexOf(message) + message.length : 0;
    return stack
      .slice(begin, begin + LONGEST_STACK)
      .split('\n')
      .flatMap((line) => (line.length > LONGEST_LINE ? [] : this.frameIn(line)));
  }

  private frameIn(text: string): Frame[] {
    const { name, file, line, column } = FRAME.exec(text)?.groups ?? {};
    // Code in an `eval` has no file.
    if (file === undefined || file.includes('<anonymous>')) return [];
    const path = this.pathOf(file);
    return path === null ? [] : [{ name, place: `${path}:${line}:${column}` }];
  }
}

interface Stacked {
  stack: string;
  message: string;
}

interface Frame {
  name: string | undefined;
  place: string;
}

function pathAt(location: string): string | null {
  if (!location.startsWith('file:')) return location;
  try {
    return fileURLToPath(location);
  } catch {
    return null; // a text that only looks like a file URL
  }
}

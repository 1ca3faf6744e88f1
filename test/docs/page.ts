import { readMarkdown } from './markdown.js';

/**
 * One part of a page, in its order. A fenced block is run by its language (walk.ts). HTML comments, which readers of the page do
 * not see, add what the page leaves to its readers:
 *
 * - `<!-- start: <configuration> <flags> -->` serves it, in a new folder, to the commands that follow.
 * - `<!-- run: <command> -->` runs a command that the page does not show. The answers that follow are those of this command.
 * - `<!-- stop: <port> -->` ends the service at a port, if the page says that it is stopped.
 * - `<!-- answer: <text> -->` says what the last answer contains, if the page describes it in words.
 * - `<!-- file: <path> -->` names the file with the content of the next block.
 * - `<!-- not run: <reason> -->` says why the next block is not run.
 *
 * Pictures have the language `text`.
 */
export interface Step {
  line: number;
  does: 'start' | 'stop' | 'run' | 'answer' | 'file' | 'not run' | 'block';
  text: string;
  /** The language of a block. */
  language: string;
}

const STEP =
  /^ *<!-- (?<does>start|stop|run|answer|file|not run): (?<directive>.*?) -->$|^(?<indent> *)```(?<language>\w*)\n(?<block>.*?)^\k<indent>```$/gms;

export function stepsOf(page: string): Step[] {
  const text = readMarkdown(page);
  return [...text.matchAll(STEP)].map(({ index, groups }) => {
    const { does = 'block', directive, indent = '', language = '', block = '' } = groups!;
    const line = text.slice(0, index).split('\n').length;
    return {
      line,
      does: does as Step['does'],
      text: directive ?? block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      language,
    };
  });
}

/** Returns why blocks are not run, each reason with the places that give it. */
export function notRunIn(pages: readonly string[]): string[] {
  const left = pages.flatMap((page) =>
    stepsOf(page).flatMap(({ does, text, line }) =>
      does === 'not run' ? [{ reason: text, place: `${page}:${line}` }] : [],
    ),
  );
  return [...Map.groupBy(left, ({ reason }) => reason)].map(
    ([reason, places]) => `${reason} (${places.map(({ place }) => place).join(', ')})`,
  );
}

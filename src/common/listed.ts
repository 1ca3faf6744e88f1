const MOST_NAMED = 10;

/** `a, b and c`. A long list is cut after ten names: `..., j and 5 more`. */
export function listed(names: readonly string[], word: 'and' | 'or'): string {
  const shown =
    names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), `${names.length - MOST_NAMED} more`] : names;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${word} ${shown.at(-1)}`;
}

/** Words that cannot be names in Python. */
const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

export const isPythonName = (text: string): boolean => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text);

/** Returns a part for the name of a type. */
export const pythonWord = (text: string): string =>
  text
    .split(/\W+|_/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

/** Returns different names of methods for texts such as `order-line`. */
export function pythonMethods(texts: readonly string[]): Map<string, string> {
  const methods = new Map<string, string>();
  const taken = new Set<string>();
  for (const text of texts) {
    const plain = text.replaceAll(/\W/g, '_').replace(/^(?=\d)/, 'n');
    let name = isPythonName(plain) && !plain.startsWith('_') ? plain : `${plain.replace(/^_+/, '')}_`;
    while (taken.has(name)) name += '_';
    taken.add(name);
    methods.set(text, name);
  }
  return methods;
}

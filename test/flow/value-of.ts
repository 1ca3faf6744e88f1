/** Returns what a map has for a key, which is made if there is nothing. */
export function valueOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key)!;
}

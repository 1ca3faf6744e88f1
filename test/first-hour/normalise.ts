/** Replaces what differs at another time or on another machine, so that two runs give the same page. */
export function normalised(page: string, port: string, folder: string): string {
  const ids = new Map<string, string>();
  const known = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `01a20cdc-7d44-75ef-8719-${String(ids.size + 1).padStart(12, '0')}`);
    return ids.get(id)!;
  };
  return (
    page
      .replaceAll(folder, '~')
      .replaceAll(`:${port}`, ':8344')
      .replaceAll(' --url http://127.0.0.1:8344', '')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, known)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g, (_, ms) => `2026-11-24T09:21:46${ms ? '.311' : ''}Z`)
      .replaceAll(/(?<=duration_ms(?:":)? )[\d.]+/g, '5')
      .replaceAll(/(?<=[ (])[\d.,]+ ?m?s\b/g, '5 ms')
      // The width of a column depends on the times in it. Lines of a change keep their indentation.
      .replaceAll(/(?<=[^\s+-]) {2,}/g, '  ')
      .replaceAll(/ +$/gm, '')
  );
}

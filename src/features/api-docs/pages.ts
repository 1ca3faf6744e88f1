export interface Page {
  title: string;
  /** Id of the element that the script fills. */
  root: string;
  styles: string[];
  scripts: string[];
}

/** Renders a page. Its scripts are files, because the content security policy forbids inline scripts. */
export function renderPage({ title, root, styles, scripts }: Page): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
</head>
<body style="margin: 0">
<div id="${root}"></div>
${scripts.map((src) => `<script src="${src}"></script>`).join('\n')}
</body>
</html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);

const REQUIRED = [24, 15];

/** Ends a process of an older Node.js with one line that says how to start it. Runs before anything that needs a newer one is loaded. */
export function requireNode(name, command) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > REQUIRED[0] || (major === REQUIRED[0] && minor >= REQUIRED[1])) return;
  console.error(
    `${name} needs Node.js ${REQUIRED.join('.')} or later (this is ${process.versions.node}): start it with npx -p node@${REQUIRED[0]} ${command}`,
  );
  process.exit(1);
}

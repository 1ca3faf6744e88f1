// Node's fetch uses the connections of the first undici that a process loads. For every suite that is Node's own, also
// after a suite that loads the package of this name first.
await fetch('data:,');

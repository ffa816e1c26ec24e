/**
 * Stops with one line on a Node.js that cannot run the service. CommonJS in plain old syntax, because an old Node.js has to read it:
 * preloaded (`node -r`) or run by the npm scripts before anything else.
 */
'use strict';

const needed = [24, 18];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `entity-service: this is Node.js ${process.versions.node}, and ${needed.join('.')} or later is needed: ` +
      'install it (on Linux x64 a plain "npm ci" brings it along) and start with the npm scripts.\n',
  );
  process.exit(1);
}

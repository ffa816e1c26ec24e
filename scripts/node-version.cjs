/** Whether this Node.js can run the service. CommonJS in old syntax, because an old Node.js has to read it. */
'use strict';

var needed = /^>=(\d+)\.(\d+) /.exec(require('../package.json').engines.node);
var version = process.versions.node.split('.');

exports.isTooOld = Number(version[0]) < needed[1] || (version[0] === needed[1] && Number(version[1]) < needed[2]);

exports.refusal =
  'entity-service: this is Node.js ' + process.versions.node + ', and ' + needed[1] + '.' + needed[2] + ' or later is needed: ';

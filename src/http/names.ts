/**
 * The names of HTTP that Node.js has. An import of `node:http` reads all its exports, for which Node.js loads its `fetch` and WebSocket:
 * some 30 ms of each start.
 */
export const { METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * What Node knows of HTTP by name. To import `node:http` reads all that it exports, for which Node loads its `fetch` and WebSocket: some 30 ms of
 * each start.
 */
export const { METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');

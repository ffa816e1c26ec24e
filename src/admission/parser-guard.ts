/**
 * Ends the parsing of what Node.js has read from a connection. Node.js has no call for that and does not document the parser of a socket, so its callback is
 * replaced.
 *
 * States of a connection:
 * - open: each request goes to Node.js. At a CONNECT the server emits `connect`, and nothing behind it is parsed.
 * - destroyed: nothing more is parsed.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Node.js calls it with each request that it has parsed. A negative answer is an error in the bytes: nothing behind them is parsed. */
type OnIncoming = (request: IncomingMessage & { upgrade?: boolean }, keepsAlive: boolean) => number;
/** Without a parser nothing ends the parsing of what has been read. */
type ParsedSocket = Socket & { parser?: { onIncoming: OnIncoming } | null };

/**
 * Node.js would otherwise go on to parse the whole of what it has read, up to 3,600 requests, after the connection has been destroyed. At a CONNECT it
 * would remove its listeners from the connection. The answers before it need them, for the room to write more and for the end of the connection.
 */
export function limitParsing(server: Server, socket: ParsedSocket): void {
  const { parser } = socket;
  if (!parser) return;
  const onIncoming = parser.onIncoming.bind(parser);
  parser.onIncoming = (request, keepsAlive) => {
    if (socket.destroyed) return -1;
    if (request.method !== 'CONNECT') return onIncoming(request, keepsAlive);
    request.upgrade = false;
    server.emit('connect', request, socket, Buffer.alloc(0));
    return -1;
  };
}

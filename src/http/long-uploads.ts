/** Connections whose request may take longer than Node.js gives requests, because the operation bounds its time itself. */
import type { Duplex } from 'node:stream';

const uploads = new WeakSet<Duplex>();

/** Lets the request that is under way on the connection take longer, until the returned function is called. */
export function allowLongUpload(socket: Duplex): () => void {
  uploads.add(socket);
  return () => uploads.delete(socket);
}

export function isLongUpload(socket: Duplex): boolean {
  return uploads.has(socket);
}

/** Shows a site from memory to the browser of whoever writes it. */
import { createServer, type Server } from 'node:http';
import { extname } from 'node:path';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.png': 'image/png',
};

/** Not listening yet. Pages get a policy that lets them load nothing from elsewhere. */
export function serveSite(files: ReadonlyMap<string, string | Buffer>): Server {
  return createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1) || 'index.html';
    const content = files.get(name);
    response.setHeader('content-security-policy', "default-src 'self'; img-src 'self' data:");
    response.setHeader('content-type', content === undefined ? 'text/plain' : (types[extname(name)] ?? 'application/octet-stream'));
    response.writeHead(content === undefined ? 404 : 200).end(content ?? 'There is no such page.\n');
  });
}

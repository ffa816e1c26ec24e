/** A certificate for tests that need TLS, which openssl makes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Why openssl cannot make one; undefined when it can. */
export const whyNoCertificate =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl makes the certificate, and is not there';

/** Writes a key and a self-signed certificate for `name`, such as `IP:127.0.0.1` or `DNS:app.example.com`, into `directory`. */
export function writeCertificate(directory: string, name: string): { keyFile: string; certificateFile: string } {
  const [keyFile, certificateFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${name.slice(name.indexOf(':') + 1)}`, '-addext', `subjectAltName=${name}`];
  execFileSync('openssl', ['req', ...kind, ...names, '-keyout', keyFile, '-out', certificateFile], { stdio: 'ignore' });
  return { keyFile, certificateFile };
}

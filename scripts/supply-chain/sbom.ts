/**
 * `npm run sbom`: writes a CycloneDX bill of materials of the production packages, on every platform, to `sbom.cdx.json` or to the given
 * path. It is made from the lock file, without network.
 */
import { writeFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { readOptions } from '../lib/options.ts';
import { npmOutput } from './npm.ts';

interface Component {
  'bom-ref': string;
  name: string;
  properties: { name: string; value: string }[];
}

interface Bom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const usage = `npm run sbom -- [path] [options]

  --help  print this

The path is that of the file to write (sbom.cdx.json).
`;

const {
  words: [path = 'sbom.cdx.json'],
} = readOptions('sbom', usage, {}, 1);
// Without workspaces: the client SDK is a separate package, which the service does not use. `--omit dev` would also leave out production
// packages that development needs too, such as ajv.
const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--no-workspaces'];
const bom = JSON.parse(await npmOutput('sbom', ...options)) as Bom;

const developmentOnly = bom.components.filter(({ properties }) => properties.some(({ name }) => name === 'cdx:npm:package:development'));
const omitted = new Set(developmentOnly.map((component) => component['bom-ref']));
bom.components = bom.components.filter((component) => !omitted.has(component['bom-ref']));
bom.dependencies = bom.dependencies
  .filter(({ ref }) => !omitted.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !omitted.has(other)) }));
// npm names the project after its directory.
bom.metadata.component.name = packageJson.name;

writeFileSync(path, `${JSON.stringify(bom, null, 2)}\n`);
process.stdout.write(`${path}: ${bom.components.length} components\n`);

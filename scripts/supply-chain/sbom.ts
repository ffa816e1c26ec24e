/**
 * `npm run sbom`: writes a CycloneDX bill of materials of what production installs, on every platform, to `sbom.cdx.json`, or to the path
 * that is given. It is made from the lock file, without network.
 */
import { writeFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
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

const path = process.argv[2] ?? 'sbom.cdx.json';
// Without workspaces: the client SDK is a package of its own, which the service does not use. Not with `--omit dev` either: npm then
// leaves out every package that development needs as well, such as ajv.
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

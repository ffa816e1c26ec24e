/** How an operator calls this program: by the command of the package, `bin/entity-service.cjs`, or by npm in the repository. */
import { basename } from 'node:path';

const isPackage = basename(process.argv[1] ?? '').startsWith('entity-service');

/** The words that start the service. */
export const startCommand = isPackage ? 'entity-service' : 'npm start';

/** The words before those of an administration command. */
export const adminCommand = isPackage ? 'entity-service admin' : 'npm run admin --';

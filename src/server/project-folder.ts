import { fileURLToPath } from 'node:url'

/** The built server stands in `dist/server/<build>`, see `scripts/server-build.ts`. */
const isBuilt = import.meta.url.endsWith('.js')

/** The folder of package.json, whether this runs from the sources or from what was built of them. */
export const projectFolder = fileURLToPath(new URL(isBuilt ? '../../../../../' : '../../', import.meta.url))

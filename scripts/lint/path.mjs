import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url)).replaceAll('\\', '/')

/** Below the root of the repository, wherever that lies: a clone may be in a folder that is called as one of its own. */
export const pathOf = (filename) => filename.replaceAll('\\', '/').replace(root, '')

import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

type Modules = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null }

/** What a signed-out visitor needs before anything can be done: the entry and the sign-in page with all that they import. */
const firstPages = ['main.tsx', 'features/auth/login-page.tsx']
const firstLoad = new Map<Modules, Set<string>>()
function isOfFirstLoad(id: string, modules: Modules): boolean {
  const known = firstLoad.get(modules)
  if (known) return known.has(id)
  const found = new Set<string>()
  const waiting = firstPages.map(here)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    waiting.push(...(modules.getModuleInfo(next)?.importedIds ?? []))
  }
  firstLoad.set(modules, found)
  return found.has(id)
}

/** Features whose pages are visited one after another come in one file. */
const areas = {
  entry: ['auth', 'setup', 'site'],
  user: ['account', 'chat', 'logs', 'messages', 'stats', 'tasks', 'tokens', 'wallet'],
  admin: ['audit', 'channels', 'groups', 'models', 'options', 'redemptions', 'users'],
  playground: ['playground'],
  pricing: ['pricing'],
}
const areaOf = (id: string): string | undefined => {
  const feature = /client[\\/]features[\\/]([^\\/]+)/.exec(id)?.[1] ?? ''
  return Object.entries(areas).find(([, features]) => features.includes(feature))?.[0]
}

/** The file a module goes into: few files, each of what is needed together, since every request costs a round trip on a slow line. */
function chunkOf(id: string, modules: Modules): string {
  if (/\.en\.ts$|[\\/]en\.(ts|json)$/.test(id)) return 'english'
  if (/[\\/]node_modules[\\/]/.test(id)) return packages.find(([, names]) => names.test(id))?.[0] ?? 'libraries'
  if (id.endsWith('components/charts/drawings.tsx')) return 'charts'
  if (/client[\\/]lib[\\/](markdown|sanitise)\.ts$/.test(id)) return 'markdown'
  if (id.startsWith('\0')) return 'libraries'
  if (id.endsWith('index.html')) return 'console'
  return isOfFirstLoad(id, modules) ? 'console' : (areaOf(id) ?? 'components')
}

/** The file of a package's module: what the shell and the signed-out pages draw with is in `libraries`, alone. */
const packages: [string, RegExp][] = [
  [
    'charts',
    // With everything that only charts use: two chunks that need each other would begin in the wrong order.
    /[\\/](recharts|d3-|internmap|victory-vendor|@reduxjs|redux|react-redux|reselect|immer|es-toolkit|eventemitter3|decimal\.js-light|tiny-invariant|clsx)/,
  ],
  ['markdown', /[\\/](marked|dompurify)[\\/]/],
  ['forms', /[\\/](react-hook-form|@hookform|zod)[\\/]/],
  [
    'libraries',
    /@chakra-ui[\\/].*[\\/]components[\\/](absolute-center|alert|badge|box|button|card|center|checkmark|circle|container|em|field|flex|for|grid|group|heading|icon|image|input|input-addon|input-element|input-group|kbd|link|loader|mark|portal|separator|show|simple-grid|skeleton|spacer|span|spinner|square|stack|strong|text|textarea|visually-hidden|wrap)[\\/]/,
  ],
  // What opens, slides and is chosen from: components that are driven by state machines.
  ['libraries', /@chakra-ui[\\/].*[\\/]components[\\/]icons\.js$|anatomy|toast/],
  ['widgets', /@chakra-ui[\\/].*[\\/]components[\\/]/],
  ['libraries', /@ark-ui[\\/].*[\\/](components[\\/](factory|field|fieldset|portal)|utils|providers|_virtual)/],
  ['libraries', /@zag-js[\\/](core|dom-query|react|types|utils|i18n-utils|auto-resize)[\\/]/],
  [
    'widgets',
    /[\\/](@ark-ui|@zag-js|@floating-ui|@internationalized|@tanstack[\\/](react-virtual|virtual-core)|proxy-compare|perfect-freehand|uqr)[\\/]/,
  ],
]

/** Node looks aliases up in package.json "imports", and so does Vite: none are repeated here. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  // The server puts a fresh value in place of this word on every page it sends.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: fileURLToPath(new URL('../dist/client', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Else a group would draw in what the first load needs too, and be loaded with it.
          includeDependenciesRecursively: false,
          groups: [{ debugName: 'by use', name: (id, modules) => chunkOf(id, modules) }],
        },
      },
    },
  },
})

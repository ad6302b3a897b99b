import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/**
 * Pages in the order in which a visitor comes to them, each row with all that it imports and no row above it needs: what every page needs,
 * the pages that are only read, the sign-in with what forms need, the other forms for who is not signed in, and the first page with a table.
 * A file of a row imports only from its own and those above, so no two of them wait for each other.
 */
const rows: readonly { file: string; pages: readonly string[] }[] = [
  { file: 'console', pages: ['main.tsx'] },
  // Facts stand on the set-up and on the price list, of which neither needs the rest of the other.
  { file: 'entry', pages: ['features/site/home-page.tsx', 'features/site/about-page.tsx', 'components/facts.tsx'] },
  { file: 'sign-in', pages: ['features/auth/login-page.tsx'] },
  {
    file: 'accounts',
    pages: [
      ...['oauth', 'register', 'reset', 'reset-confirm'].map((name) => `features/auth/${name}-page.tsx`),
      'features/setup/page.tsx',
    ],
  },
  { file: 'tables', pages: ['features/pricing/page.tsx'] },
  // No page, but what all of these say in English.
  { file: 'english', pages: ['i18n/en-visitors.ts'] },
]

type Modules = { getModuleInfo: (id: string) => { importedIds: readonly string[] } | null }

const filesOfRows = new Map<Modules, Map<string, string>>()
/** The file of the first row that needs the module; none for what only later pages need. */
function rowOf(id: string, modules: Modules): string | undefined {
  const known = filesOfRows.get(modules) ?? new Map<string, string>()
  if (!filesOfRows.has(modules)) {
    filesOfRows.set(modules, known)
    for (const { file, pages } of rows) {
      const waiting = pages.map(here)
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (known.has(next)) continue
        known.set(next, file)
        waiting.push(...(modules.getModuleInfo(next)?.importedIds ?? []))
      }
    }
  }
  return known.get(id)
}

/** Features whose pages are visited one after another come in one file. */
const areas = {
  user: ['account', 'chat', 'logs', 'messages', 'orders', 'plans', 'stats', 'tasks', 'tokens', 'wallet'],
  admin: ['audit', 'channels', 'groups', 'models', 'options', 'prices', 'redemptions', 'system', 'users'],
  playground: ['playground'],
}
const areaOf = (id: string): string | undefined => {
  const feature = /client[\\/]features[\\/]([^\\/]+)/.exec(id)?.[1] ?? ''
  return Object.entries(areas).find(([, features]) => features.includes(feature))?.[0]
}

/** The file a module goes into: few files, each of what is needed together, since every request costs a round trip on a slow line. */
function chunkOf(id: string, modules: Modules): string {
  if (/\.en\.ts$|[\\/]en(-visitors)?\.(ts|json)$/.test(id)) return rowOf(id, modules) ?? 'sentences'
  // Not by who imports it: Chakra names all of its components in one module, which everybody does.
  if (/[\\/]node_modules[\\/]/.test(id)) return packages.find(([, names]) => names.test(id))?.[0] ?? 'libraries'
  if (id.endsWith('components/charts/drawings.tsx')) return 'charts'
  if (/client[\\/]lib[\\/](markdown|sanitise)\.ts$/.test(id)) return 'markdown'
  if (id.startsWith('\0')) return 'libraries'
  if (id.endsWith('index.html')) return 'console'
  return rowOf(id, modules) ?? areaOf(id) ?? 'components'
}

/** The file of a package's module: what the shell and the signed-out pages draw with is in `libraries`, alone. */
const packages: [string, RegExp][] = [
  [
    'charts',
    // With everything that only charts use: two chunks that need each other would begin in the wrong order.
    /[\\/](recharts|d3-|internmap|victory-vendor|@reduxjs|redux|react-redux|reselect|immer|es-toolkit|eventemitter3|decimal\.js-light|tiny-invariant|clsx)/,
  ],
  ['markdown', /[\\/](marked|dompurify)[\\/]/],
  // What only a passkey or a reply of the playground needs is fetched with these.
  ['passkeys', /[\\/]@simplewebauthn[\\/]/],
  ['playground', /[\\/]eventsource-parser[\\/]/],
  ['forms', /[\\/](react-hook-form|@hookform|zod)[\\/]/],
  [
    'libraries',
    /@chakra-ui[\\/].*[\\/]components[\\/](absolute-center|alert|badge|box|button|card|center|checkmark|circle|container|em|field|flex|for|grid|group|heading|icon|image|input|input-addon|input-element|input-group|kbd|link|loader|mark|portal|separator|show|simple-grid|skeleton|spacer|span|spinner|square|stack|strong|text|textarea|visually-hidden|wrap)[\\/]/,
  ],
  // What opens, slides and is chosen from: components that are driven by state machines.
  ['libraries', /@chakra-ui[\\/].*[\\/]components[\\/]icons\.js$|anatomy|toast/],
  // Of these, what each row of pages above draws with; the rest is for those behind the sign-in.
  [
    'entry',
    /(@chakra-ui|@ark-ui)[\\/].*[\\/](segment-group|radio-group|radiomark)[\\/]|@zag-js[\\/](radio-group|focus-visible|rect-utils)[\\/]/,
  ],
  ['accounts', /@chakra-ui[\\/].*[\\/]radio-card[\\/]/],
  [
    'tables',
    /(@chakra-ui|@ark-ui)[\\/].*[\\/](popover|dialog|drawer|presence|native-select)[\\/]|@zag-js[\\/](popover|popper|dialog|dismissable|aria-hidden|focus-trap|remove-scroll|presence|interact-outside)[\\/]|@floating-ui|@tanstack[\\/](react-virtual|virtual-core)/,
  ],
  ['widgets', /@chakra-ui[\\/].*[\\/]components[\\/]/],
  ['libraries', /@ark-ui[\\/].*[\\/](components[\\/](factory|field|fieldset|portal)|utils|providers|_virtual)/],
  ['libraries', /@zag-js[\\/](core|dom-query|react|types|utils|i18n-utils|auto-resize)[\\/]/],
  ['widgets', /[\\/](@ark-ui|@zag-js|@internationalized|proxy-compare|perfect-freehand|uqr)[\\/]/],
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

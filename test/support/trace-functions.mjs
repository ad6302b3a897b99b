import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'

// Loaded before a product (node --import): notes which functions a chat call enters on its way from its arrival to its charge,
// each once, in their order, and which files are loaded, and writes both into the file that TRACE_FILE names after every call.
const root = fileURLToPath(new URL('../..', import.meta.url))
const traced = /^(relay|src\/core|src\/features)\//
const first = 'relay/chat-call.ts handleChat'
const last = /^src\/features\/ledger\/[\w/-]+\.ts settle$/

let entered = null
const files = new Set()

globalThis.traceEntry = (place, isInner) => {
  if (place === first) entered = new Set()
  if (entered === null) return
  const [file] = place.split(' ')
  // What stands inside a function is read with it, unless that was called before there was a call.
  if (!isInner || last.test(place) || ![...entered].some((other) => other.startsWith(`${file} `))) entered.add(place)
  if (!last.test(place)) return
  writeFileSync(process.env.TRACE_FILE, JSON.stringify({ entered: [...entered], loaded: [...files] }))
  entered = null
}

/** The text with a call at the beginning of each of its functions; no line moves. */
function instrument(path, text) {
  const marks = []
  const visit = (node, name, isInner = false) => {
    if (node === null || typeof node !== 'object') return
    if (Array.isArray(node)) return node.forEach((one) => visit(one, name, isInner))
    if (/^(Function|ArrowFunction)/.test(node.type) && node.body) {
      const call = `traceEntry(${JSON.stringify(`${path} ${node.id?.name ?? name ?? ''}`)}, ${isInner})`
      isInner = true
      if (node.body.type === 'BlockStatement' || node.body.type === 'FunctionBody')
        marks.push([node.body.start + 1, `${call};`])
      else marks.push([node.body.start, `(${call},`], [node.body.end, ')'])
    }
    const inner = node.id?.name ?? (node.key?.name || name)
    for (const [key, value] of Object.entries(node)) if (key !== 'parent') visit(value, inner, isInner)
  }
  visit(parseAst(text, { lang: 'ts' }).body, undefined)
  return marks
    .toSorted(([left], [right]) => right - left)
    .reduce((made, [at, insertion]) => made.slice(0, at) + insertion + made.slice(at), text)
}

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context)
    const path = url.startsWith('file:') ? fileURLToPath(url).replace(root, '').replaceAll('\\', '/') : ''
    files.add(path)
    if (!traced.test(path) || !path.endsWith('.ts')) return loaded
    return { ...loaded, source: instrument(path, String(loaded.source)) }
  },
})

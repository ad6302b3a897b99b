import { pathOf } from './path.mjs'

/** What a call passes through; a session and a batch live longer, and are few. */
const isOfCalls = (file) =>
  /\/relay\/(attempt|billing|chat|dialects|providers|request|response|routing|transport)\//.test(file) &&
  !file.endsWith('.test.ts')

/**
 * V8 keeps the getter of an object literal in the old generation, beside the functions of each such object. What they can see of their call
 * then survives every collection of the young generation, long after the call is over.
 */
export const callGetters = {
  create: (context) => {
    if (!isOfCalls(`/${pathOf(context.filename)}`)) return {}
    return {
      Property: (node) => {
        if (node.kind !== 'get' && node.kind !== 'set') return
        const message =
          'what a call makes has no getters, which keep the call in memory: use a field or a function (boundaries/call-getters)'
        context.report({ node, message })
      },
    }
  },
}

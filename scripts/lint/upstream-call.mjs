import { pathOf } from './path.mjs'

const nameOf = (node) => {
  if (node?.type === 'Identifier') return node.name
  if (node?.type === 'ChainExpression') return nameOf(node.expression)
  if (node?.type === 'CallExpression') return nameOf(node.callee)
  return node?.type === 'MemberExpression' && !node.computed ? node.property.name : undefined
}

const isFree = (file) =>
  !/\/(relay|src)\//.test(file) ||
  /\.test\.ts$|\/(testing|conformance)\/|\/relay\/(upstream-call|transport)\//.test(file)

/** By the names that things have here: `services.transport.send`, `provider.sign`, `providerFor(type).sign`. */
const reserved = { send: /^transport$/i, openSocket: /^transport$/i, sign: /^provider(For)?$/i }

/** Signature, proxy, time limits and masking belong to every call upstream, so all of them go out at one place. */
export const upstreamCall = {
  create: (context) => {
    if (isFree(`/${pathOf(context.filename)}`)) return {}
    return {
      MemberExpression: (node) => {
        const name = node.computed ? undefined : node.property.name
        const owner = Object.hasOwn(reserved, name ?? '') ? nameOf(node.object) : undefined
        if (owner === undefined || !reserved[name].test(owner)) return
        context.report({
          node,
          message: `only relay/upstream-call uses ${owner}.${name}: call sendToUpstream of relay/upstream-call/send.ts (boundaries/upstream-call)`,
        })
      },
    }
  },
}

import { pathOf } from './path.mjs'

const ids = new Set(['openai-chat', 'openai-responses', 'openai-completions', 'openai-edits', 'claude', 'gemini'])

/** Providers, counting and the hub format ask where a part of a conversation came from, which is a fact of the part. */
const isFree = (file) =>
  !/\/(relay|src)\//.test(file) || /\.test\.ts$|\/relay\/(dialects|providers|chat|counting)\//.test(file)

const nameOf = (node) => {
  if (node?.type === 'Identifier') return node.name
  return node?.type === 'MemberExpression' && !node.computed ? node.property.name : undefined
}

/** `dialect.id`, `call.dialect.id`, `dialect?.id`, `dialectId`. */
const isDialectId = (node) => {
  if (node?.type === 'ChainExpression') return isDialectId(node.expression)
  if (/^(\w+D|d)ialectId$/.test(nameOf(node) ?? '')) return true
  return (
    node?.type === 'MemberExpression' && nameOf(node) === 'id' && /^(\w+D|d)ialect$/.test(nameOf(node.object) ?? '')
  )
}

/** What distinguishes dialects is a property of the dialect, so that a new one is added in one place. */
export const dialectComparison = {
  create: (context) => {
    const file = `/${pathOf(context.filename)}`
    if (isFree(file)) return {}
    // Elsewhere the same words name other things, such as formulas of prices.
    const isWord = (node) => file.includes('/relay/') && node?.type === 'Literal' && ids.has(node.value)
    const report = (node) =>
      context.report({
        node,
        message:
          'a dialect is not distinguished by its id: give it a property in relay/dialects/types.ts (boundaries/dialect-comparison)',
      })
    return {
      BinaryExpression: (node) => {
        const sides = [node.left, node.right]
        if (/^[!=]==?$/.test(node.operator) && sides.some((side) => isDialectId(side) || isWord(side))) report(node)
      },
      SwitchStatement: (node) => {
        if (isDialectId(node.discriminant) || node.cases.some(({ test }) => isWord(test))) report(node)
      },
      CallExpression: (node) => {
        if (nameOf(node.callee) === 'includes' && node.arguments.some(isDialectId)) report(node)
      },
    }
  },
}

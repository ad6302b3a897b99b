import { rules as accounts } from '#test/rules/accounts.ts'
import type { Rule, RuleList } from '#test/rules/rule.ts'
import { type Blocks, code, table } from './markdown.ts'

const row = ({ rule, message = '', file, test }: Rule) => [rule, message, `${code(file)}: ${test}`]

const listed = ({ sections }: RuleList): string =>
  Object.entries(sections)
    .map(([heading, rules]) => `### ${heading}\n\n${table(['rule', 'message', 'test'], rules.map(row))}`)
    .join('\n\n')

export const ruleBlocks: Blocks = {
  accounts: () => listed(accounts),
}

import { rules as accounts } from '#test/rules/accounts.ts'
import { rules as signingIn } from '#test/rules/signing-in.ts'
import { rules as site } from '#test/rules/site.ts'
import { rules as tokens } from '#test/rules/tokens.ts'
import type { Rule, RuleList } from '#test/rules/rule.ts'
import { type Blocks, code, table } from './markdown.ts'

const row = ({ rule, message = '', file, test }: Rule) => [rule, message, `${code(file)}: ${test}`]

const listed = ({ title, sections }: RuleList): string =>
  [
    `## ${title}`,
    ...Object.entries(sections).map(
      ([heading, rules]) => `### ${heading}\n\n${table(['rule', 'message', 'test'], rules.map(row))}`,
    ),
  ].join('\n\n')

export const ruleBlocks: Blocks = {
  rules: () => [signingIn, accounts, site, tokens].map(listed).join('\n\n'),
}

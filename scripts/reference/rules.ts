import { rules as accounts } from '#test/rules/accounts.ts'
import { rules as channels } from '#test/rules/channels.ts'
import { rules as documentedApi } from '#test/rules/documented-api.ts'
import { rules as operation } from '#test/rules/operation.ts'
import { rules as options } from '#test/rules/options.ts'
import { rules as settings } from '#test/rules/settings.ts'
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
  rules: () =>
    [signingIn, accounts, site, tokens, channels, options, settings, operation, documentedApi].map(listed).join('\n\n'),
}

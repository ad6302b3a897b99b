import { rules as accounts } from '#test/rules/accounts.ts'
import { rules as channels } from '#test/rules/channels.ts'
import { rules as documentedApi } from '#test/rules/documented-api.ts'
import { rules as limits } from '#test/rules/limits.ts'
import { rules as messages } from '#test/rules/messages.ts'
import { rules as operation } from '#test/rules/operation.ts'
import { rules as options } from '#test/rules/options.ts'
import { rules as presets } from '#test/rules/presets.ts'
import { rules as screens } from '#test/rules/screens.ts'
import { rules as settings } from '#test/rules/settings.ts'
import { rules as signingIn } from '#test/rules/signing-in.ts'
import { rules as site } from '#test/rules/site.ts'
import { rules as tokens } from '#test/rules/tokens.ts'
import { rules as wallet } from '#test/rules/wallet.ts'
import { withoutTest } from '#test/rules/without-test.ts'
import { type Rule, type RuleList, rulesOf, sectionsOf } from '#test/rules/rule.ts'
import { type Blocks, code, table } from './markdown.ts'

/** In the order in which documents name them. */
const lists = [
  signingIn,
  accounts,
  site,
  tokens,
  wallet,
  channels,
  options,
  settings,
  operation,
  documentedApi,
  screens,
  messages,
  limits,
  presets,
]

const row = ({ rule, message = '', file, test }: Rule) => [rule, message, `${code(file)}: ${test}`]

const listed = (list: RuleList): string =>
  [
    `## ${list.title}`,
    ...sectionsOf(list).map(
      ([heading, rules]) => `### ${heading}\n\n${table(['rule', 'message', 'test'], rules.map(row))}`,
    ),
  ].join('\n\n')

export const ruleBlocks: Blocks = { rules: () => lists.map(listed).join('\n\n') }

const all = (): Rule[] => lists.flatMap(rulesOf)

const ofKind = (kind: Rule['kind']) => () =>
  table(
    [kind ?? 'rule', 'asserted as', 'test'],
    all()
      .filter((rule) => rule.kind === kind)
      .map(({ rule, asserts = '', file, test }) => [rule, code(asserts), `${code(file)}: ${test}`]),
  )

/** Every message, limit and preset with the test that asserts it. */
export const ruleCoverageBlocks: Blocks = {
  messages: () => {
    const tests = new Map<string, string>()
    for (const { message, file, test } of all())
      if (message !== undefined && !tests.has(message)) tests.set(message, `${code(file)}: ${test}`)
    return table(
      ['message', 'test'],
      [...tests].toSorted(([left], [right]) => (left < right ? -1 : 1)),
    )
  },
  limits: ofKind('limit'),
  presets: ofKind('preset'),
  exceptions: () =>
    table(
      ['what', 'why'],
      withoutTest.map(({ what, reason }) => [what, reason]),
    ),
  sections: () =>
    table(
      ['rules about', 'how many, each with its test'],
      lists.flatMap((list) =>
        sectionsOf(list).map(([heading, rules]) => [`${list.title}: ${heading}`, String(rules.length)]),
      ),
    ),
}

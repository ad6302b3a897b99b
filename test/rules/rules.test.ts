import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { proseDenialOf } from '#scripts/lint/denied-identifiers.mjs'
import { productFiles } from '#scripts/lint/source-code.ts'
import { root } from '#scripts/steps.ts'
import { lackOf } from './proof.ts'
import quotedMessages from './quoted-messages.json' with { type: 'json' }
import { type RuleList, rulesOf } from './rule.ts'

const apart = ['rule.ts', 'proof.ts', 'rules.test.ts', 'without-test.ts']
const files = globSync('*.ts', { cwd: join(root, 'test/rules') }).filter((name) => !apart.includes(name))
const lists = await Promise.all(
  files.map(async (name) => ({ name, list: ((await import(`./${name}`)) as { rules: RuleList }).rules })),
)

const everyRule = lists.flatMap(({ list }) => rulesOf(list))

it.each(lists)('every rule of $name has a test that asserts it', ({ list }) => {
  const rules = rulesOf(list)
  expect(rules.length).toBeGreaterThan(0)
  expect(rules.map(lackOf).filter((lack) => lack !== undefined)).toEqual([])
})

it.each(lists)('every message of $name is shown as it is written there', ({ list }) => {
  const product = productFiles()
    .map(({ text }) => text)
    .join('\n')
  const messages = rulesOf(list).flatMap(({ message = [] }) => message)
  expect(messages.filter((message) => !product.includes(message))).toEqual([])
})

it('every message that documents quote is in the product, letter by letter', () => {
  const product = productFiles()
    .map(({ text }) => text)
    .join('\n')
  expect(quotedMessages.length).toBeGreaterThan(80)
  expect(quotedMessages.filter((message) => !product.includes(message))).toEqual([])
})

it('every message that documents quote has a test that asserts it', () => {
  const asserted = everyRule.flatMap(({ message = [] }) => message)
  expect(quotedMessages.filter((quoted) => !asserted.some((message) => message.includes(quoted)))).toEqual([])
})

it('rules, and the names of their tests, do without denied words', () => {
  const denials = everyRule.flatMap(({ rule, test }) => [rule, test].map((text) => [text, proseDenialOf(text)]))
  expect(denials.filter(([, denial]) => denial !== undefined)).toEqual([])
})

it('every limit and preset names what its test asserts, letter by letter', () => {
  const figures = everyRule.filter(({ kind }) => kind !== undefined)
  expect(figures.length).toBeGreaterThan(90)
  expect(figures.filter(({ asserts }) => asserts === undefined).map(({ rule }) => rule)).toEqual([])
})

it('a rule without its test, or whose test says nothing of it, is found', () => {
  const file = 'test/rules/rules.test.ts'
  const test = 'a rule without its test, or whose test says nothing of it, is found'
  expect(lackOf({ rule: 'r', file, test, asserts: 'says nothing of it' })).toBeUndefined()
  expect(lackOf({ rule: 'r', file, test, asserts: ['not', 'there'].join(' ') })).toContain('says nothing of')
  expect(lackOf({ rule: 'r', file, test: 'another' })).toContain('has no test "another"')
  expect(lackOf({ rule: 'r', file: 'test/nowhere.test.ts', test })).toContain('has no test')
})

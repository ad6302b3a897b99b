import { describeOption, type OptionField } from '#core/options/describe.ts'
import { encodeValue } from '#core/options/codec.ts'
import { type OptionGroup, optionGroups, settingsTabs } from '#core/options/groups.ts'
import { optionKeys, optionOf } from '#core/options/registry/index.ts'
import { translate } from './english.ts'
import { type Blocks, code, table } from './markdown.ts'

const longestDefault = 40

function defaultOf({ key, visibility }: OptionField): string {
  if (visibility === 'secret') return ''
  const text = encodeValue(key, optionOf(key).default as never)
  return text.length > longestDefault ? 'a table or text, see the registry' : code(text)
}

function typeOf({ schema }: OptionField): string {
  const choices = schema.enum
  if (choices) return choices.map((choice) => code(String(choice))).join(', ')
  const { minimum, maximum, exclusiveMinimum } = schema
  const unbounded = (bound: number | undefined): boolean => bound === undefined || Math.abs(bound) >= 2 ** 31 - 1
  const from = exclusiveMinimum === undefined ? (unbounded(minimum) ? '' : ` ≥ ${minimum}`) : ` > ${exclusiveMinimum}`
  const to = unbounded(maximum) ? '' : ` ≤ ${maximum}`
  return `${String(schema.type ?? 'JSON')}${from}${to}`
}

const whatItDoes = ({ label, help, unit, requires }: OptionField): string =>
  [
    `${translate(label)}${unit === null ? '' : ` (${translate(unit)})`}`,
    ...(help === null ? [] : [translate(help)]),
    ...(requires.length > 0 ? [`needs ${requires.map(code).join(', ')}`] : []),
  ].join('. ')

function section(group: OptionGroup): string {
  const { tab, label } = optionGroups[group]
  const fields = optionKeys.filter((key) => optionOf(key).group === group).map(describeOption)
  const place = tab === null ? 'kept for older clients, on no page' : `Settings → ${translate(settingsTabs[tab])}`
  const rows = fields.map((field) => [
    code(field.key),
    typeOf(field),
    defaultOf(field),
    field.visibility,
    whatItDoes(field),
  ])
  return `### ${tab === null ? group : translate(label)}\n\n${place}.\n\n${table(['key', 'type', 'default', 'visibility', 'what it does'], rows)}`
}

export const optionBlocks: Blocks = {
  options: () => (Object.keys(optionGroups) as OptionGroup[]).map(section).join('\n\n'),
}

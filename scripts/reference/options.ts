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
  const type = String(schema.type ?? 'JSON')
  if (exclusiveMinimum !== undefined) return `${type} > ${exclusiveMinimum}`
  if (unbounded(minimum)) return type
  return unbounded(maximum) ? `${type} ≥ ${minimum}` : `${type} ${minimum} to ${maximum}`
}

const whatItDoes = ({ group, label, help, unit, requires }: OptionField): string => {
  if (optionGroups[group].tab === null) return 'Nothing any more'
  return [
    `${translate(label)}${unit === null ? '' : ` (${translate(unit)})`}`,
    ...(help === null ? [] : [translate(help)]),
    ...(requires.length > 0 ? [`Needs ${requires.map(code).join(', ')}`] : []),
  ].join('. ')
}

function section(group: OptionGroup): string {
  const { tab, label } = optionGroups[group]
  const fields = optionKeys.filter((key) => optionOf(key).group === group).map(describeOption)
  const place =
    tab === null ? 'On no page: older clients read and write them' : `Settings → ${translate(settingsTabs[tab])}`
  const rows = fields.map((field) => [
    code(field.key),
    typeOf(field),
    defaultOf(field),
    field.visibility,
    whatItDoes(field),
  ])
  return `### ${tab === null ? 'Kept for older clients' : translate(label)}\n\n${place}.\n\n${table(['key', 'type', 'default', 'visibility', 'what it does'], rows)}`
}

export const optionBlocks: Blocks = {
  options: () => (Object.keys(optionGroups) as OptionGroup[]).map(section).join('\n\n'),
}

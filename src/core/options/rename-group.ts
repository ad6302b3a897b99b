import { encodeValue } from './codec.ts'
import type { OptionKey, OptionsReader, OptionValues } from './registry/index.ts'

type Table = Readonly<Record<string, unknown>>

/** The same table in the same order, under the new name; what it still says of a former group of that name goes. */
const renamedKey = <Value>(table: Readonly<Record<string, Value>>, from: string, to: string): Record<string, Value> =>
  Object.hasOwn(table, from)
    ? Object.fromEntries(
        Object.entries(table).flatMap(([name, value]) =>
          name === to ? [] : [[name === from ? to : name, value] as const],
        ),
      )
    : { ...table }

/** Whether one of the options that the table of groups shows names it. */
export const namesGroup = (options: OptionsReader, name: string): boolean =>
  (['GroupRatio', 'UserUsableGroups', 'TopupGroupRatio'] as const).some((key) => Object.hasOwn(options.get(key), name))

const tables = ['GroupRatio', 'UserUsableGroups', 'TopupGroupRatio', 'ModelRequestRateLimitGroup'] as const
const names = ['global.rate_limit_exempt_group', 'global.safe_check_exempt_group'] as const

/** The texts of every option that names a group, as they are once it is called otherwise; only those that differ. */
export function textsAfterRename(
  options: OptionsReader,
  from: string,
  to: string,
): { key: OptionKey; value: string }[] {
  const texts: { key: OptionKey; value: string }[] = []
  const put = <Key extends OptionKey>(key: Key, value: OptionValues[Key]): void => {
    const text = encodeValue(key, value)
    if (text !== encodeValue(key, options.get(key))) texts.push({ key, value: text })
  }
  for (const key of tables) put(key, renamedKey(options.get(key) as Table, from, to) as OptionValues[typeof key])
  const nested = Object.entries(renamedKey(options.get('GroupGroupRatio'), from, to)).map(
    ([name, ratios]) => [name, renamedKey(ratios, from, to)] as const,
  )
  put('GroupGroupRatio', Object.fromEntries(nested))
  put(
    'AutoGroups',
    options.get('AutoGroups').map((name) => (name === from ? to : name)),
  )
  for (const key of names) if (options.get(key) === from) put(key, to)
  return texts
}

import { autoGroup } from './auto-group.ts'
import type { OptionsReader } from './options/registry/index.ts'
import { chargedGroupRatio } from './pricing/price-of.ts'

/** A group a user may run calls in, at what price factor; its calls go to `groups`, which are several for `auto` alone. */
export type UsableGroup = { name: string; ratio: number; description: string; groups: string[] }

/** Shown for one's own group where root wrote no description. */
const ownGroupDescription = '用户分组'

/** The user's own group and those root opened to everybody, as far as they have a ratio; the own group comes first. */
export function usableGroups(options: OptionsReader, userGroup: string): UsableGroup[] {
  const described = new Map(Object.entries(options.get('UserUsableGroups')))
  const names = new Set([...(userGroup === '' ? [] : [userGroup]), ...described.keys()])
  return [...names].flatMap((name) => {
    // A call is charged by the group it ends up in; the first of them is the likely one.
    const groups = name === autoGroup ? autoGroups(options, userGroup) : [name]
    const [charged] = groups
    if (charged === undefined || !Object.hasOwn(options.get('GroupRatio'), charged)) return []
    const description = described.get(name) || (name === userGroup ? ownGroupDescription : name)
    return [{ name, ratio: chargedGroupRatio(options, { userGroup, usedGroup: charged }).ratio, description, groups }]
  })
}

/** The groups that `auto` stands for, in root's order: those of the list that the user may use by name as well. */
export function autoGroups(options: OptionsReader, userGroup: string): string[] {
  const open = options.get('UserUsableGroups')
  return options
    .get('AutoGroups')
    .filter(
      (name) =>
        name !== autoGroup &&
        (name === userGroup || Object.hasOwn(open, name)) &&
        Object.hasOwn(options.get('GroupRatio'), name),
    )
}

/**
 * Whether a token or a playground call of the user may name the group; its own group always, even without a ratio, and `auto`
 * wherever it stands for a group, for it opens none that is not open.
 */
export const mayUseGroup = (options: OptionsReader, userGroup: string, group: string): boolean =>
  group === userGroup ||
  (group === autoGroup && autoGroups(options, userGroup).length > 0) ||
  usableGroups(options, userGroup).some((usable) => usable.name === group)

/** All groups that have a price factor, by name. */
export const groupNames = (options: OptionsReader): string[] => Object.keys(options.get('GroupRatio')).toSorted()

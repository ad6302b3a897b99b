import type { OptionsReader } from './options/registry/index.ts'
import { groupRatioOf } from './pricing/group-ratio.ts'

/** A group a user may run calls in, at what price factor. */
export type UsableGroup = { name: string; ratio: number; description: string }

/** Shown for one's own group where root wrote no description. */
export const ownGroupDescription = '用户分组'

/** The user's own group and those root opened to everybody, as far as they have a ratio; the own group comes first. */
export function usableGroups(options: OptionsReader, userGroup: string): UsableGroup[] {
  const GroupRatio = options.get('GroupRatio')
  const GroupGroupRatio = options.get('GroupGroupRatio')
  const described = new Map(Object.entries(options.get('UserUsableGroups')))
  const names = new Set([...(userGroup === '' ? [] : [userGroup]), ...described.keys()])
  return [...names]
    .filter((name) => Object.hasOwn(GroupRatio, name))
    .map((name) => ({
      name,
      ratio: groupRatioOf({ userGroup, usedGroup: name }, { GroupRatio, GroupGroupRatio }).ratio,
      description: described.get(name) || (name === userGroup ? ownGroupDescription : name),
    }))
}

/** Whether a token or a playground call of the user may name the group; its own group always, even without a ratio. */
export const mayUseGroup = (options: OptionsReader, userGroup: string, group: string): boolean =>
  group === userGroup || usableGroups(options, userGroup).some((usable) => usable.name === group)

/** All groups that have a price factor, by name. */
export const groupNames = (options: OptionsReader): string[] => Object.keys(options.get('GroupRatio')).toSorted()

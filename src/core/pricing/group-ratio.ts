import { figureOf, pricingDefaults } from './tables.ts'
import type { RatioMap } from './tables.ts'

export type GroupTables = {
  GroupRatio: RatioMap
  /** User group → used group → ratio; beats GroupRatio where it has an entry. */
  GroupGroupRatio?: Readonly<Record<string, RatioMap>> | undefined
}

/** The price factor of a call that runs in `usedGroup`. `known` is false where no table has it, which deserves a log line. */
export function groupRatioOf(
  groups: { userGroup: string; usedGroup: string },
  tables: GroupTables,
): { ratio: number; known: boolean } {
  const special = tables.GroupGroupRatio
  const own = special !== undefined && Object.hasOwn(special, groups.userGroup) ? special[groups.userGroup] : undefined
  const ratio = figureOf(own, groups.usedGroup) ?? figureOf(tables.GroupRatio, groups.usedGroup)
  return { ratio: ratio ?? pricingDefaults.UnknownGroupRatio, known: ratio !== undefined }
}

import { groupNames, usableGroups, type UsableGroup } from '#core/groups.ts'
import type { Deps } from '../deps.ts'

export const listGroupNames = (deps: Pick<Deps, 'options'>): string[] => groupNames(deps.options)

/** What the caller may use; an anonymous visitor sees what is open to everybody. */
export const listUsableGroups = (deps: Pick<Deps, 'options' | 'actor'>): UsableGroup[] =>
  usableGroups(deps.options, deps.actor?.group ?? '')

import { DomainError } from '#core/errors.ts'
import { roles } from '#core/roles.ts'
import type { Deps } from '../deps.ts'

/** A demonstration is looked at: only root changes anything on it. @throws {DomainError} demo.read_only */
export function refuseInDemo({ options, actor }: Pick<Deps, 'options' | 'actor'>): void {
  const isRoot = (actor?.role ?? roles.guest) >= roles.root
  if (!isRoot && options.get('DemoSiteEnabled')) throw new DomainError('demo.read_only')
}

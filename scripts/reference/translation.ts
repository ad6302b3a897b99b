import { DomainError } from '#core/errors.ts'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { details } from '#relay/chat/losses.ts'
import { sealLoss } from '#relay/chat/seals/open-seals.ts'
import { requestWith } from '#relay/providers/conformance/requests.ts'
import {
  callers,
  type Feature,
  features,
  same,
  sendAndRead,
  type Target,
  targets,
} from '#relay/providers/conformance/wanted-features.ts'
import { root } from '../steps.ts'
import { type Blocks, code, table } from './markdown.ts'

/** What becomes of something that a caller of another dialect wants: it arrives, or its loss is reported by a name, or it is refused. */
function outcomeOf({ want, find }: Feature, target: Target): string {
  const outcomes = callers
    .filter((dialect) => dialect !== target.dialect)
    .map((dialect) => {
      const request = requestWith({ ...want, extra: { dialect, fields: {} } })
      try {
        const { read, losses } = sendAndRead(target, request)
        return same(find(read), find(request)) ? 'carried' : losses.map(code).join(', ')
      } catch (error) {
        if (error instanceof DomainError || error instanceof InvalidRequest) return 'refused'
        throw error
      }
    })
  return [...new Set(outcomes)].toSorted().join(' or ')
}

const featureRows = () =>
  Object.entries(features).map(([name, feature]) => [name, ...targets.map((target) => outcomeOf(feature, target))])

/** Names that stand as such in the code: where a loss is added, and in the lists of what an upstream has no word for. */
function writtenNames(): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>()
  const note = (name: string, place: string) => names.set(name, (names.get(name) ?? new Set()).add(place))
  for (const path of globSync('relay/{chat,dialects,providers}/**/*.ts', { cwd: root }).toSorted()) {
    if (path.endsWith('.test.ts') || /\/(testing|conformance)\//.test(path)) continue
    const place = path.replaceAll('\\', '/').replace(/\.ts$/, '').split('/').slice(1, 3).join('/')
    const source = readFileSync(join(root, path), 'utf8')
    for (const [, added, listed] of source.matchAll(/\b(?:losses|lost)(?:\.(?:add|push)\(\s*'([^']+)'|: \['([^']+)')/g))
      note(added ?? listed ?? '', place)
  }
  note(sealLoss, 'chat/seals')
  for (const name of Object.keys(details)) note(name, 'chat/losses')
  return names
}

const nameRows = () =>
  [...writtenNames()]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([name, places]) => [code(name), [...places].toSorted().join(', ')])

export const translationBlocks: Blocks = {
  features: () => table(['feature of a call in another dialect', ...targets.map(({ name }) => name)], featureRows()),
  names: () => table(['name', 'reported by'], nameRows()),
}

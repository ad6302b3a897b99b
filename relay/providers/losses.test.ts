import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '#core/errors.ts'
import { InvalidRequest } from '#relay/chat/invalid-request.ts'
import { requestWith } from './conformance/requests.ts'
import { callers, type Feature, features, same, sendAndRead, targets } from './conformance/wanted-features.ts'

/** Those that do not want the same field. */
function apart(wanted: Feature[]): Feature[] {
  const taken = new Set<string>()
  return wanted.filter(({ want }) => {
    const names = Object.keys(want)
    if (names.some((name) => taken.has(name))) return false
    for (const name of names) taken.add(name)
    return true
  })
}

describe.each(targets)('towards $name', (target) => {
  test.each(Object.keys(features))('arrives, or its loss is reported: %s', (name) => {
    const { want, find, named } = features[name] as Feature
    for (const dialect of callers.filter((each) => each !== target.dialect)) {
      const request = requestWith({ ...want, extra: { dialect, fields: {} } })
      try {
        const { read, losses } = sendAndRead(target, request)
        const arrived = same(find(read), find(request))
        expect(arrived || losses.some((loss) => named.includes(loss)), `${dialect}: ${losses.join(',')}`).toBe(true)
      } catch (error) {
        // What must not be dropped is refused.
        if (!(error instanceof DomainError || error instanceof InvalidRequest)) throw error
      }
    }
  })

  test('whatever is wanted together, each loss is reported', () => {
    const some = fc.uniqueArray(
      fc.constantFrom(...Object.keys(features).filter((name) => features[name]?.want.messages === undefined)),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(some, fc.constantFrom(...callers.filter((each) => each !== target.dialect)), (names, dialect) => {
        const wanted = apart(names.map((name) => features[name] as Feature))
        const request = requestWith({
          ...Object.assign({}, ...wanted.map(({ want }) => want)),
          extra: { dialect, fields: {} },
        })
        try {
          const { read, losses } = sendAndRead(target, request)
          for (const { find, named } of wanted) {
            expect(same(find(read), find(request)) || losses.some((loss) => named.includes(loss)), names.join()).toBe(
              true,
            )
          }
        } catch (error) {
          if (!(error instanceof DomainError || error instanceof InvalidRequest)) throw error
        }
      }),
    )
  })
})

import published from 'cldr-bcp47/bcp47/timezone.json' with { type: 'json' }
import { expect, test } from 'vitest'
import oldNames from './old-zone-names.json' with { type: 'json' }
import { currentZone, knownZone, timeZone } from './time-zone.ts'

type Zone = { _description: string; _alias?: string; _iana?: string }

/** Beside the zones stand words about all of them. */
const zones: [string, string | Zone][] = Object.entries(published.keyword.u.tz)
const namesOf = (zone: string | Zone): Partial<Zone> => (typeof zone === 'string' ? {} : zone)

test('the old names of zones are those of the Unicode CLDR, and UTC is UTC', () => {
  const named = zones.flatMap(([id, zone]) => {
    const { _alias = '', _iana } = namesOf(zone)
    const [first = '', ...others] = _alias.split(' ')
    const preferred = _iana ?? first
    const current = preferred === 'Etc/UTC' ? 'UTC' : preferred
    return id === 'unk' ? [] : [first, ...others].filter((name) => name !== current).map((name) => [name, current])
  })
  expect(oldNames).toEqual(Object.fromEntries(named.filter(([name]) => name)))
})

test('a zone is taken by every name that a browser may report, as one that is no old name', () => {
  const names = [...Intl.supportedValuesOf('timeZone'), ...Object.keys(oldNames), ...Object.values(oldNames)]
  const taken = names.map((name) => timeZone().parse(name))
  expect(taken.filter((name) => name in oldNames)).toEqual([])
  expect(timeZone().parse('Asia/Calcutta')).toBe('Asia/Kolkata')
  expect(['Europe/Stockholm', 'Asia/Shanghai', 'UTC', 'Etc/GMT+5'].map(currentZone)).toEqual([
    'Europe/Stockholm',
    'Asia/Shanghai',
    'UTC',
    'Etc/GMT+5',
  ])
})

test('a zone is named as the database knows it: by the current name, else by a former one', () => {
  expect(knownZone('Europe/Kiev', new Set(['Europe/Kiev', 'Europe/Kyiv']))).toBe('Europe/Kyiv')
  expect(knownZone('Europe/Kyiv', new Set(['Europe/Kiev']))).toBe('Europe/Kiev')
  expect(knownZone('europe/kyiv', new Set(['Europe/Kyiv']))).toBe('Europe/Kyiv')
  expect(knownZone('Europe/Stockholm', new Set(['Europe/Kiev']))).toBeUndefined()
})

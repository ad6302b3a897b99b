import type { OwnForm } from '../types.ts'
import { listOf, recordOf, wordOf } from './json.ts'

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What Google's embedding call says of all its texts alike; texts of which it says different things share nothing. */
export function sharedField({ json }: OwnForm, name: 'taskType' | 'title'): string | undefined {
  const requests =
    json['requests'] === undefined ? [json] : listOf(json['requests']).map((request) => recordOf(request))
  const values = new Set(requests.map((request) => wordOf(request?.[name] ?? request?.[toSnakeCase(name)])))
  return values.size === 1 ? [...values][0] : undefined
}

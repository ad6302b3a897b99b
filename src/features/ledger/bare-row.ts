import type { ChargeRow } from './charge-row.ts'

/** What a column of the log takes of a foreign text; indexes break on rows of a few thousand bytes. */
const longestName = 128
const longestContent = 4000
const largestInt = 2_147_483_647

/** At most so many characters, no half of one at the end. */
const cut = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')

const names = ['username', 'tokenName', 'modelName', 'group', 'clientIp'] as const

/** A charge as it is sent: callers and upstreams do not decide how long a name in the ledger is. */
export function cappedRow(row: ChargeRow): ChargeRow {
  if (row.content.length <= longestContent && names.every((name) => row[name].length <= longestName)) return row
  const capped = { ...row, content: cut(row.content, longestContent) }
  for (const name of names) capped[name] = cut(row[name], longestName)
  return capped
}

const plain = (text: string): string => cut(text, longestName).replaceAll(/[^\x20-\x7e]/g, '?')
const small = (figure: number): number => (Number.isInteger(figure) ? Math.min(Math.max(figure, 0), largestInt) : 0)

/** The money of a charge without what may have stood against its log row. */
export const bareRow = (row: ChargeRow): ChargeRow => ({
  ...row,
  content: '',
  username: plain(row.username),
  tokenName: plain(row.tokenName),
  modelName: plain(row.modelName),
  group: plain(row.group),
  clientIp: '',
  promptTokens: small(row.promptTokens),
  completionTokens: small(row.completionTokens),
  cachedTokens: small(row.cachedTokens),
  useTimeMs: small(row.useTimeMs),
  firstTokenMs: row.firstTokenMs === null ? null : small(row.firstTokenMs),
  other: { cut: true },
})

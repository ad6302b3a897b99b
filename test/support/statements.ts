import pg from 'pg'
import { vi } from 'vitest'

/** A statement without its values, and a list of values as one. What a value does to the statement itself is left over. */
export const shapeOf = (statement: string): string =>
  statement
    .replace(/\bE'(?:[^'\\]|''|\\.)*'/gs, '?')
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/(?<![\w$"])\$?-?\d+(?:\.\d+)?(?!\w)/g, '?')
    .replace(/\s+/g, ' ')
    .replace(/\?(?: ?, ?\?)+/g, '?')

/** What the listener asks by its own clock, and what sets a session up: when depends on what the pool did meanwhile. */
const isOfConnection = (text: string) => text === 'select 1' || text.startsWith('set timezone = ')

/** Records what this process sends to its databases, over connections that are opened from now on. */
export function recordStatements() {
  let sent: string[] = []
  const query = Reflect.get(pg.Client.prototype, 'query') as (this: pg.Client, ...given: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const text = (given[0] as { text?: unknown }).text ?? given[0]
    if (typeof text === 'string' && !isOfConnection(text)) sent.push(text)
    return query.apply(this, given)
  } as never)
  return {
    /** The shapes of what is sent while `act` runs, in order. */
    during: async <Result>(act: () => Promise<Result>): Promise<{ result: Result; shapes: string[] }> => {
      sent = []
      const result = await act()
      return { result, shapes: sent.map(shapeOf) }
    },
    /** The shapes of what was sent since `during` was last asked, by whomever. */
    sent: () => sent.map(shapeOf),
    stop: () => spy.mockRestore(),
  }
}

import { z } from 'zod'

/** One line of an option that says something about groups: which groups, and the figures for them. */
export type Line = { groups: readonly string[]; figures: readonly (number | null)[] }

export type LineForm = { read: (text: unknown) => Line[] | undefined; write: (lines: readonly Line[]) => string }

/** Null is a figure that is still to be typed; no option accepts it. */
const figure = z.number().nullable()

const parsed = <Output>(schema: z.ZodType<Output>, text: unknown): Output | undefined => {
  try {
    return schema.safeParse(JSON.parse(String(text))).data
  } catch {
    return undefined
  }
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)

/** Group of the user → group that is used → ratio. */
export const ratioLines: LineForm = {
  read: (text) => {
    const table = parsed(z.record(z.string(), z.record(z.string(), figure)), text)
    return (
      table &&
      Object.entries(table).flatMap(([own, used]) =>
        Object.entries(used).map(([name, ratio]) => ({ groups: [own, name], figures: [ratio] })),
      )
    )
  },
  write: (lines) => {
    const byOwn = Map.groupBy(lines, ({ groups }) => groups[0] ?? '')
    return asText(
      Object.fromEntries(
        [...byOwn].map(([own, used]) => [
          own,
          Object.fromEntries(used.map(({ groups, figures }) => [groups[1], figures[0]])),
        ]),
      ),
    )
  },
}

/** Group → calls of a period, and answered calls of a period. */
export const limitLines: LineForm = {
  read: (text) => {
    const table = parsed(z.record(z.string(), z.tuple([figure, figure])), text)
    return table && Object.entries(table).map(([name, figures]) => ({ groups: [name], figures }))
  },
  write: (lines) => asText(Object.fromEntries(lines.map(({ groups, figures }) => [groups[0], figures]))),
}

export const isSameLine = (left: readonly string[], right: readonly string[]): boolean =>
  left.every((name, place) => name === right[place])

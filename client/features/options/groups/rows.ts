import { z } from 'zod'

/** The options that together say which groups there are and what each is. */
export const groupKeys = ['GroupRatio', 'UserUsableGroups', 'TopupGroupRatio'] as const
export type GroupKey = (typeof groupKeys)[number]

/** Null is a figure that is still to be typed; no option accepts it. */
const figures = z.record(z.string(), z.number().nullable())
const shapes = { GroupRatio: figures, UserUsableGroups: z.record(z.string(), z.string()), TopupGroupRatio: figures }

export type GroupTables = { [Key in GroupKey]: z.infer<(typeof shapes)[Key]> }

/** A group with what the three tables say of it; undefined where a table does not name it. */
export type GroupRow = {
  name: string
  ratio: number | null | undefined
  topupRatio: number | null | undefined
  /** Whether any user may choose it. */
  isUsable: boolean
  description: string
}

const parse = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text)) as unknown
  } catch {
    return undefined
  }
}

/** Undefined where one of the texts is not such a table: only their text can then be edited. */
export function readTables(texts: Readonly<Record<GroupKey, unknown>>): GroupTables | undefined {
  const read = z.object(shapes).safeParse(Object.fromEntries(groupKeys.map((key) => [key, parse(texts[key])])))
  return read.success ? read.data : undefined
}

/** In the order in which the tables name them. */
export function groupRows({ GroupRatio, UserUsableGroups, TopupGroupRatio }: GroupTables): GroupRow[] {
  const names = new Set([GroupRatio, UserUsableGroups, TopupGroupRatio].flatMap((table) => Object.keys(table)))
  return [...names].map((name) => ({
    name,
    ratio: GroupRatio[name],
    topupRatio: TopupGroupRatio[name],
    isUsable: Object.hasOwn(UserUsableGroups, name),
    description: UserUsableGroups[name] ?? '',
  }))
}

const put = <Value>(table: Readonly<Record<string, Value>>, name: string, value: Value | undefined) => {
  const entries = Object.entries(table)
  if (value === undefined) return Object.fromEntries(entries.filter(([other]) => other !== name))
  // A name that is there keeps its place.
  return Object.fromEntries(
    Object.hasOwn(table, name)
      ? entries.map(([other, old]) => [other, other === name ? value : old])
      : [...entries, [name, value]],
  )
}

/** The tables with the group as given; what it leaves undefined they no longer name. */
export const putRow = (tables: GroupTables, row: GroupRow): GroupTables => ({
  GroupRatio: put(tables.GroupRatio, row.name, row.ratio),
  UserUsableGroups: put(tables.UserUsableGroups, row.name, row.isUsable ? row.description : undefined),
  TopupGroupRatio: put(tables.TopupGroupRatio, row.name, row.topupRatio),
})

export const withoutRow = (tables: GroupTables, name: string): GroupTables =>
  putRow(tables, { name, ratio: undefined, topupRatio: undefined, isUsable: false, description: '' })

/** A group that somebody adds: at the ordinary price, and not open to users before that is wanted. */
export const newRow = (name: string): GroupRow => ({
  name,
  ratio: 1,
  topupRatio: undefined,
  isUsable: false,
  description: '',
})

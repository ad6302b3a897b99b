import { iso, seconds } from './read.ts'
import type { RestRequest } from './request.ts'

/** A JSON schema, as the document of the interface has it. */
export type ReplySchema = Readonly<Record<string, unknown>>

/** What becomes of an output on its way out, and the schema of what it becomes: one thing said once. */
export type Reply<From, To = unknown> = ((from: From, request: RestRequest) => To) & {
  /** None where there is nothing. */
  schema?: ReplySchema
  /** Some outputs give nothing. */
  isOptional?: boolean
  /** Of a list without a place for it: how many rows there are, of which this is a page. */
  totalOf?: (from: From) => number | undefined
}

/** The name of a field that has such a value, or what finds the value. */
type Source<From, Value> = FieldOf<From, Value> | ((from: From, request: RestRequest) => Value)
type FieldOf<From, Value> = { [Name in keyof From]: From[Name] extends Value ? Name : never }[keyof From] & string

function value<Value, To = Value>(schema: ReplySchema, write?: (value: Value) => To) {
  return <From>(source: Source<From, Value>): Reply<From, To> => {
    const find = (from: From, request: RestRequest): Value =>
      typeof source === 'function' ? source(from, request) : (from[source as keyof From] as Value)
    const reply = write
      ? (from: From, request: RestRequest) => write(find(from, request))
      : (find as unknown as Reply<From, To>)
    return Object.assign(reply, { schema })
  }
}

const nullable = (type: string) => ({ type: [type, 'null'] })

export const asInteger = value<number>({ type: 'integer' })
export const asNumber = value<number>({ type: 'number' })
export const asText = value<string>({ type: 'string' })
export const asTextOrNull = value<string | null>(nullable('string'))
export const asFlag = value<boolean>({ type: 'boolean' })
/** A text that holds JSON, or an empty one. */
export const asJsonText = value<string>({ type: 'string', description: 'JSON, or empty' })
export const asJsonTextOrNull = value<string | null>({ ...nullable('string'), description: 'JSON' })
export const asList = value<readonly string[]>({ type: 'array', items: { type: 'string' } })
/** Names with commas between them. */
export const asNames = value<readonly string[], string>(
  { type: 'string', description: 'names with commas between them' },
  (names) => names.join(','),
)
/** 0 is never. */
export const asSeconds = value<Date | null | undefined, number>(
  { type: 'integer', description: 'seconds since 1970, 0 is never' },
  seconds,
)
export const asMilliseconds = value<Date | null | undefined, number>(
  { type: 'integer', description: 'milliseconds since 1970, 0 is never' },
  (time) => time?.getTime() ?? 0,
)
export const asTime = value<Date | null | undefined, string | null>({ ...nullable('string'), format: 'date-time' }, iso)
/** Whatever JSON it is. */
export const asAnything = value<unknown>({ description: 'any JSON' })

const itself = <Output>(output: Output): Output => output
/** An output that goes out as it is. */
export const sameText = asText<string>(itself)
export const sameNumber = asInteger<number>(itself)
export const sameList = asList<readonly string[]>(itself)

/** One of so many values. */
export const asOneOf = <Value extends number | string>(...values: readonly Value[]) =>
  value<Value>({ type: typeof values[0] === 'number' ? 'integer' : 'string', enum: values })

/** The same for every output. */
export const always = <Value extends string | number | boolean | null>(constant: Value): Reply<unknown, Value> =>
  Object.assign(() => constant, { schema: { const: constant } })

export type ReplyFields<From> = Readonly<Record<string, Reply<From>>>

/** Every field under its documented name. */
export function asObject<From>(fields: ReplyFields<From>): Reply<From, Record<string, unknown>> {
  const entries = Object.entries(fields)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, field.schema ?? {}])),
    required: entries.flatMap(([name, field]) => (field.isOptional ? [] : [name])),
  }
  const reply = (from: From, request: RestRequest) => {
    const written: Record<string, unknown> = {}
    for (const [name, field] of entries) written[name] = field(from, request)
    return written
  }
  return Object.assign(reply, { schema })
}

/** Names that are data, each with a value of one kind. */
export const asRecord = <From, Item>(
  entriesOf: (from: From) => readonly (readonly [string, Item])[],
  item: Reply<Item>,
): Reply<From, Record<string, unknown>> =>
  Object.assign(
    (from: From, request: RestRequest) =>
      Object.fromEntries(entriesOf(from).map(([name, entry]) => [name, item(entry, request)])),
    { schema: { type: 'object', additionalProperties: item.schema ?? {} } },
  )

/** A list with each item renamed. */
export const asListOf = <Item>(item: Reply<Item>): Reply<readonly Item[], unknown[]> =>
  Object.assign((items: readonly Item[], request: RestRequest) => items.map((entry) => item(entry, request)), {
    schema: { type: 'array', items: item.schema ?? {} },
  })

type Page<Item> = { items: readonly Item[]; total: number; page: number; pageSize: number }

/** `{items,total,page,page_size}` with each item renamed. */
export function asPage<Item>(item: Reply<Item>): Reply<Page<Item>> {
  const items = asListOf(item)
  return asObject<Page<Item>>({
    items: replyOfPart(items, (page) => page.items),
    total: asInteger('total'),
    page: asInteger('page'),
    page_size: asInteger('pageSize'),
  })
}

/** The bare array of older lists; how many rows there are in all stands in a header. */
export const asBarePage = <Item>(item: Reply<Item>): Reply<{ items: readonly Item[]; total?: number }> =>
  Object.assign(
    replyOfPart(asListOf(item), (page: { items: readonly Item[] }) => page.items),
    { totalOf: (page: { total?: number }) => page.total },
  )

/** Another reply, of a part of the output. */
export const replyOfPart = <From, Part>(reply: Reply<Part>, part: (from: From) => Part): Reply<From> =>
  Object.assign((from: From, request: RestRequest) => reply(part(from), request), { schema: reply.schema ?? {} })

/** One reply or the other. */
export const asEither = <From, Left extends From>(
  isLeft: (from: From) => from is Left,
  left: Reply<Left>,
  right: Reply<Exclude<From, Left>>,
): Reply<From> =>
  Object.assign(
    (from: From, request: RestRequest) =>
      isLeft(from) ? left(from, request) : right(from as Exclude<From, Left>, request),
    { schema: { anyOf: [left.schema ?? {}, right.schema ?? {}] } },
  )

/** Nothing where the output has no such part. */
export const asOptional = <From, Part>(reply: Reply<Part>, part: (from: From) => Part | undefined): Reply<From> =>
  Object.assign(
    (from: From, request: RestRequest) => {
      const found = part(from)
      return found === undefined ? undefined : reply(found, request)
    },
    { schema: reply.schema ?? {}, isOptional: true },
  )

/** A reply without `data`. */
export const noData: Reply<unknown, undefined> = (): undefined => undefined

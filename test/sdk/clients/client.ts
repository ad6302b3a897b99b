/** An answer in words that no client library owns, so that one table of cases serves all of them. */
export type Turn = {
  text: string
  /** What the model thought, where the library has a place for it. */
  reasoning: string
  /** The library's own word. */
  stop: string
  usage: { input: number; output: number } | undefined
  calls: { id: string; name: string; arguments: unknown }[]
  /** What the library wants to see again in the next round. */
  assistantTurn: unknown
  /** What a later call may name it by, where the dialect has such a name. */
  id?: string
}

export type Ask = {
  model: string
  text: string
  stream?: boolean
  system?: string
  maxTokens?: number
  /** A PNG file. */
  image?: Buffer
  tools?: { name: string; description: string; properties: Record<string, { type: 'string' }> }[]
  thinking?: boolean
  /** The answer is to be JSON of this schema. */
  schema?: ObjectSchema
  /** What was asked and answered before. */
  earlier?: { text: string; turn: Turn }
  /** What was asked and answered before is named, not sent again. */
  byReference?: boolean
  /** The vendor may search the web, too. */
  search?: boolean
  /** The tools stand in a namespace, as agents offer those of their MCP servers. */
  namespace?: string
  /** Earlier turns that called tools, one after the other, and what the tools said, in the order of each turn's calls. */
  results?: { turn: Turn; texts: string[] }[]
}

/** Throws for what the library or its dialect has no words for. */
export function refuseBeyond(ask: Ask, ...has: ('byReference' | 'search' | 'namespace')[]): void {
  for (const name of ['byReference', 'search', 'namespace'] as const)
    if (ask[name] !== undefined && !has.includes(name)) throw new Error(`the library has no words for ${name}`)
}

export type ObjectSchema = {
  type: 'object'
  properties: Record<string, { type: 'string' }>
  required: string[]
  additionalProperties: false
}

export type Client = {
  ask: (ask: Ask) => Promise<Turn>
  /** Status, class and text of what the library throws. */
  failureOf: (ask: Ask) => Promise<{ status: number | undefined; class: string; message: string }>
}

/** How the library words what ended an answer, and what it throws by status. */
export type ClientFacts = {
  stop: string
  length: string
  toolUse: string
  errorClass: (status: number) => string
  /** The status for a model that no channel has. */
  unknownModel: number
  /** What is said of an upstream that is busy. */
  busy: string
}

export async function thrownBy(run: () => Promise<unknown>): Promise<Error & { status?: number }> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

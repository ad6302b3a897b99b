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
  /** Earlier turns that called tools, one after the other, and what the tools said, in the order of each turn's calls. */
  results?: { turn: Turn; texts: string[] }[]
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

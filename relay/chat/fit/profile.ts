import type { JsonSchema } from '../request.ts'

/** What a target takes as a name or an id: at most so many characters, of this alphabet only. */
export type NameRule = {
  shortest?: number | undefined
  longest: number
  /** Matches a name that is taken, its length aside. */
  pattern: RegExp
}

/** What a target takes of schemas. Each function gives an equal schema, or nothing where the target has no words for it. */
export type SchemaRules = {
  /** Of a strict tool. */
  strict?: ((schema: JsonSchema) => JsonSchema | undefined) | undefined
  /** Of any tool; `lost` where the target's words say less. */
  parameters?: ((schema: JsonSchema) => { schema: JsonSchema; lost: boolean }) | undefined
  /** Of an answer; `lost` as above, and the rest is still strict. */
  format?: ((schema: JsonSchema) => { schema: JsonSchema; lost: boolean } | undefined) | undefined
  /** The target keeps an answer to any schema it is given, whether or not the caller asks for strictness. */
  alwaysKeepsFormat?: boolean | undefined
  /** Whether all schemas of a call that are to be followed strictly are too much together. */
  exceeds?: ((tools: readonly JsonSchema[], format: JsonSchema | undefined) => boolean) | undefined
}

/** What a family of targets, and a model of it where they differ, refuses of what the hub format can say. */
export type TargetProfile = {
  toolName?: NameRule | undefined
  /** A function that a vendor calls by a name of its own, and calls made of it, go on under that name: Moonshot's `$web_search`. */
  takesBuiltIns?: boolean | undefined
  callId?: NameRule | undefined
  user?: NameRule | undefined
  schemas?: SchemaRules | undefined
  /** The most tools of a call. */
  mostTools?: number | undefined
  /** The most tokens of an answer that may be asked for. */
  mostOutput?: number | undefined
  /** JSON without a schema is answered only where its word stands in the conversation. */
  namesJson?: boolean | undefined
}

/**
 * What most of those that speak OpenAI's form take. Tool names: "must be a-z, A-Z, 0-9, or contain underscores and dashes, with
 * a maximum length of 64" (https://platform.openai.com/docs/api-reference/chat/create, `tools[].function.name`); DeepSeek, Mistral,
 * Zhipu and DashScope say the same. Ids of calls: "string too long. Expected a string with maximum length 40" is the
 * vendor's answer to longer ones; their alphabet is free, and some models read meaning in it.
 */
export const openAiProfile: TargetProfile = {
  toolName: { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ },
  callId: { longest: 40, pattern: /^./s },
}

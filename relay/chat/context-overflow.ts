/** A prompt that does not fit into the model, with the figures its upstream reported. */
export type ContextOverflow = { tokens?: number | undefined; limit?: number | undefined }

/**
 * How vendors say it, each with the figures where they tell any. OpenAI and whoever copies it, Anthropic, Google, Bedrock,
 * Mistral, xAI, Cohere, DashScope, Zhipu, Moonshot, MiniMax, Volcengine, Qianfan, Copilot, Together, vLLM, llama.cpp, Ollama.
 */
const wordings: readonly RegExp[] = [
  /maximum context length (?:is|of) (?<limit>\d{1,12})(?!\d).{0,300}?(?:resulted in|requested(?: about)?|contains?) (?<tokens>\d+)/is,
  /maximum (?:context|prompt|input) length (?:is|of) (?<limit>\d+)(?: but the request contains (?<tokens>\d+))?/i,
  /exceed(?:s|ed)? the configured limit of (?<limit>\d+) tokens(?:.{0,300}?resulted in (?<tokens>\d+))?/is,
  /exceeds? the context (?:window|length|limit|size)/i,
  /prompt is too long(?:: (?<tokens>\d+) tokens > (?<limit>\d+))?/i,
  /exceed context limit: (?<tokens>\d+) \+ \d+ > (?<limit>\d+)/i,
  /input token count \((?<tokens>\d+)\) exceeds the maximum number of tokens allowed \((?<limit>\d+)\)/i,
  /input token count\D{0,200}(?<tokens>\d{1,12})\D{0,200}(?:only supports up to|exceeds)\D{0,200}(?<limit>\d{1,12})/i,
  /input is too long(?: for requested model)?/i,
  /prompt contains (?<tokens>\d+) tokens.{0,300}?too large for model with (?<limit>\d+) maximum context/is,
  /total number of tokens in the prompt cannot exceed (?<limit>\d+)/i,
  /range of input length should be \[\d+, ?(?<limit>\d+)\]/i,
  /exceeded model token limit: ?(?<limit>\d+)(?: \(requested: ?(?<tokens>\d+)\))?/i,
  /context window exceeds limit/i,
  /prompt exceeds max(?:imum)? length|prompt\s*(?:长度)?(?:超长|超过)|输入(?:长度)?(?:过长|超过|超限)/i,
  /total tokens of image and text exceed max message tokens/i,
  /input length (?<tokens>\d+) exceeds the maximum length (?<limit>\d+)/i,
  /input length exceeds the context length|prompt tokens? too long|the max input characters/i,
  /prompt token count of (?<tokens>\d+) exceeds the limit of (?<limit>\d+)/i,
  /tokens must be <= (?<limit>\d+)\. given: (?<tokens>\d+)/i,
  /request \((?<tokens>\d+) tokens\) exceeds the available context size \((?<limit>\d+)/i,
  /exceeds the available context size|greater than the context length|model_context_window_exceeded/i,
  /please reduce the length of the (?:messages|prompt|input)/i,
]

const codes = new Set<string | number | null>(['context_length_exceeded', 'exceed_context_size_error', 1261, '1261'])

/** Of these statuses an upstream means the prompt; with any other it speaks of limits in time or of rights. */
const isPromptStatus = (status: number): boolean => status === 400 || status === 413 || status === 422 || status >= 500

const figure = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** Whether a failure says that the prompt is too long for the model. */
export function overflowIn(failure: {
  status: number
  type: string
  code: string | number | null
  message: string
}): ContextOverflow | undefined {
  if (!isPromptStatus(failure.status)) return undefined
  for (const wording of wordings) {
    const groups = wording.exec(failure.message.slice(0, 2000))
    if (groups) return { tokens: figure(groups.groups?.['tokens']), limit: figure(groups.groups?.['limit']) }
  }
  return codes.has(failure.code) || codes.has(failure.type) ? {} : undefined
}

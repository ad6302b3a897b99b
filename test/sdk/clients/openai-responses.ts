import type OpenAI from 'openai'
import type { ResponseCreateParams, ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses'
import { type Ask, type Client, type ClientFacts, refuseBeyond, thrownBy, type Turn } from './client.ts'
import { openAiFacts, openAiLibrary } from './openai.ts'

export const openAiResponsesFacts: ClientFacts = { ...openAiFacts, stop: 'completed', toolUse: 'completed' }

/** The same library by its newer call. */
export function openAiResponsesClient(url: string, key: string): Client {
  const library = openAiLibrary(url, key)
  const ask = async (wanted: Ask): Promise<Turn> => {
    refuseBeyond(wanted, 'byReference', 'search', 'namespace')
    const body = bodyOf(wanted)
    if (!wanted.stream) return turnOf(await library.responses.create(body))
    return turnOf(await library.responses.stream(body).finalResponse())
  }
  return {
    ask,
    failureOf: async (wanted) => {
      const error = await thrownBy(() => ask(wanted))
      return { status: error.status, class: error.constructor.name, message: error.message }
    },
  }
}

function inputOf({ text, image, results, earlier, byReference }: Ask): ResponseInputItem[] {
  const imagePart = image && {
    type: 'input_image' as const,
    detail: 'auto' as const,
    image_url: `data:image/png;base64,${image.toString('base64')}`,
  }
  return [
    ...(earlier && !byReference
      ? [{ role: 'user' as const, content: earlier.text }, ...(earlier.turn.assistantTurn as ResponseInputItem[])]
      : []),
    { role: 'user', content: [{ type: 'input_text', text }, ...(imagePart ? [imagePart] : [])] },
    ...(results ?? []).flatMap(({ turn, texts }): ResponseInputItem[] => [
      ...(turn.assistantTurn as ResponseInputItem[]),
      ...texts.map((output, index) => ({
        type: 'function_call_output' as const,
        call_id: turn.calls[index]?.id ?? '',
        output,
      })),
    ]),
  ]
}

type OwnTool = NonNullable<ResponseCreateParams['tools']>[number]

function toolsOf({ tools = [], search, namespace }: Ask): OwnTool[] {
  const functions = tools.map(({ name, description, properties }) => ({
    type: 'function' as const,
    name,
    description,
    strict: false,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  }))
  const offered: OwnTool[] =
    namespace === undefined
      ? functions
      : [{ type: 'namespace', name: namespace, description: 'Tools of a server.', tools: functions }]
  return search ? [...offered, { type: 'web_search' }] : offered
}

function bodyOf(ask: Ask) {
  const { model, system, maxTokens, thinking, schema, earlier, byReference } = ask
  const tools = toolsOf(ask)
  return {
    model,
    input: inputOf(ask),
    ...(system ? { instructions: system } : {}),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(thinking ? { reasoning: { effort: 'low' as const, summary: 'auto' as const } } : {}),
    ...(schema ? { text: { format: { type: 'json_schema' as const, name: 'place', strict: true, schema } } } : {}),
    ...(byReference && earlier?.turn.id ? { previous_response_id: earlier.turn.id } : {}),
    ...(tools.length > 0 ? { tools } : {}),
  }
}

const reasoningIn = (item: ResponseOutputItem): string[] =>
  item.type === 'reasoning' ? item.summary.map((part) => part.text) : []

/** A tool of a namespace under the name that the others have. */
const nameOf = (call: { name: string; namespace?: string | null }): string =>
  call.namespace ? `${call.namespace}.${call.name}` : call.name

const turnOf = ({ id, output, output_text: text, status, usage }: OpenAI.Responses.Response): Turn => ({
  id,
  text,
  reasoning: output.flatMap(reasoningIn).join(''),
  stop: status ?? '',
  usage: usage && { input: usage.input_tokens, output: usage.output_tokens },
  calls: output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: nameOf(item), arguments: JSON.parse(item.arguments) as unknown }]
      : [],
  ),
  assistantTurn: output,
})

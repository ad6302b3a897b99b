import type OpenAI from 'openai'
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses'
import { type Ask, type Client, type ClientFacts, thrownBy, type Turn } from './client.ts'
import { openAiFacts, openAiLibrary } from './openai.ts'

export const openAiResponsesFacts: ClientFacts = { ...openAiFacts, stop: 'completed', toolUse: 'completed' }

/** The same library by its newer call. */
export function openAiResponsesClient(url: string, key: string): Client {
  const library = openAiLibrary(url, key)
  const ask = async (wanted: Ask): Promise<Turn> => {
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

function inputOf({ text, image, results, earlier }: Ask): ResponseInputItem[] {
  const imagePart = image && {
    type: 'input_image' as const,
    detail: 'auto' as const,
    image_url: `data:image/png;base64,${image.toString('base64')}`,
  }
  return [
    ...(earlier
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

function bodyOf(ask: Ask) {
  const { model, system, maxTokens, tools, thinking, schema } = ask
  return {
    model,
    input: inputOf(ask),
    ...(system ? { instructions: system } : {}),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(thinking ? { reasoning: { effort: 'low' as const, summary: 'auto' as const } } : {}),
    ...(schema ? { text: { format: { type: 'json_schema' as const, name: 'place', strict: true, schema } } } : {}),
    ...(tools
      ? {
          tools: tools.map(({ name, description, properties }) => ({
            type: 'function' as const,
            name,
            description,
            strict: false,
            parameters: { type: 'object', properties, required: Object.keys(properties) },
          })),
        }
      : {}),
  }
}

const reasoningIn = (item: ResponseOutputItem): string[] =>
  item.type === 'reasoning' ? item.summary.map((part) => part.text) : []

const turnOf = ({ output, output_text: text, status, usage }: OpenAI.Responses.Response): Turn => ({
  text,
  reasoning: output.flatMap(reasoningIn).join(''),
  stop: status ?? '',
  usage: usage && { input: usage.input_tokens, output: usage.output_tokens },
  calls: output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) as unknown }]
      : [],
  ),
  assistantTurn: output,
})

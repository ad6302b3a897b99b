import { ApiError, type Content, type GenerateContentResponse, GoogleGenAI, Type } from '@google/genai'
import { type Ask, type Client, type ClientFacts, refuseBeyond, thrownBy, type Turn } from './client.ts'

export const googleFacts: ClientFacts = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  toolUse: 'STOP',
  errorClass: () => 'ApiError',
  unknownModel: 404,
  busy: 'Simulated failure 429.',
}

export const googleLibrary = (url: string, key: string) =>
  new GoogleGenAI({ apiKey: `sk-${key}`, httpOptions: { baseUrl: url } })

export function googleClient(url: string, key: string): Client {
  const library = googleLibrary(url, key)
  const ask = async (wanted: Ask): Promise<Turn> => {
    refuseBeyond(wanted, 'search')
    const request = requestOf(wanted)
    if (!wanted.stream) return turnOf([await library.models.generateContent(request)])
    const chunks: GenerateContentResponse[] = []
    for await (const chunk of await library.models.generateContentStream(request)) chunks.push(chunk)
    return turnOf(chunks)
  }
  return {
    ask,
    failureOf: async (wanted) => {
      const error = await thrownBy(() => ask(wanted))
      const status = error instanceof ApiError ? error.status : undefined
      return { status, class: error.constructor.name, message: error.message }
    },
  }
}

function requestOf({ model, text, system, maxTokens, image, tools, results, thinking, schema, earlier, search }: Ask) {
  const contents: Content[] = [
    ...(earlier ? [{ role: 'user', parts: [{ text: earlier.text }] }, earlier.turn.assistantTurn as Content] : []),
    {
      role: 'user',
      parts: [...(image ? [{ inlineData: { mimeType: 'image/png', data: image.toString('base64') } }] : []), { text }],
    },
    ...(results ?? []).flatMap(({ turn, texts }): Content[] => [
      turn.assistantTurn as Content,
      {
        role: 'user',
        parts: texts.map((output, index) => {
          const call = turn.calls[index]
          const id = call?.id ? { id: call.id } : {}
          return { functionResponse: { ...id, name: call?.name ?? '', response: { output } } }
        }),
      },
    ]),
  ]
  return {
    model,
    contents,
    config: {
      ...(system ? { systemInstruction: system } : {}),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(thinking ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } : {}),
      ...(schema ? { responseMimeType: 'application/json', responseJsonSchema: schema } : {}),
      ...(tools
        ? {
            tools: [
              {
                functionDeclarations: tools.map(({ name, description, properties }) => ({
                  name,
                  description,
                  parameters: {
                    type: Type.OBJECT,
                    properties: Object.fromEntries(
                      Object.keys(properties).map((property) => [property, { type: Type.STRING }]),
                    ),
                    required: Object.keys(properties),
                  },
                })),
              },
              ...(search ? [{ googleSearch: {} }] : []),
            ],
          }
        : {}),
    },
  }
}

function turnOf(chunks: GenerateContentResponse[]): Turn {
  const candidates = chunks.flatMap((chunk) => chunk.candidates?.slice(0, 1) ?? [])
  const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? [])
  const usage = chunks.findLast((chunk) => chunk.usageMetadata)?.usageMetadata
  return {
    text: parts.flatMap((part) => (part.text && !part.thought ? [part.text] : [])).join(''),
    reasoning: parts.flatMap((part) => (part.text && part.thought ? [part.text] : [])).join(''),
    stop: candidates.findLast((candidate) => candidate.finishReason)?.finishReason ?? '',
    usage: usage && { input: usage.promptTokenCount ?? -1, output: usage.candidatesTokenCount ?? -1 },
    calls: parts.flatMap(({ functionCall }) =>
      functionCall
        ? [{ id: functionCall.id ?? '', name: functionCall.name ?? '', arguments: functionCall.args ?? {} }]
        : [],
    ),
    assistantTurn: { role: 'model', parts } satisfies Content,
  }
}

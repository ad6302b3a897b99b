import { type Agent, eventsOf, type Json, parameters, png, summaryPrompt } from './agent-clients.ts'

/** Gemini CLI: calls without ids, results with their ids and every key that the tool gave. */
export function geminiCli(): Agent {
  const contents: Json[] = []
  const imagePart = { inlineData: { mimeType: 'image/png', data: png } }
  const functionDeclarations = ['Read', 'Bash', 'docs_search'].map((name) => ({
    name,
    description: name,
    parametersJsonSchema: parameters,
  }))
  return {
    name: 'Gemini CLI',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    headers: { 'user-agent': 'GeminiCLI/0.40.0 (linux; x64)' },
    ask: (_model, { text, image, results = [] }) => {
      const parts = [
        ...results.map(({ call, output }) => ({
          functionResponse: { id: call.id, name: call.name, response: { output, exitCode: 0, stderr: '' } },
        })),
        // Images stand beside the results.
        ...(image || results.some((result) => result.image) ? [imagePart] : []),
        ...(text === undefined ? [] : [{ text }]),
      ]
      contents.push({ role: 'user', parts })
      return {
        systemInstruction: { role: 'user', parts: [{ text: 'You are Gemini CLI.' }] },
        tools: [{ functionDeclarations }],
        generationConfig: { temperature: 1, thinkingConfig: { includeThoughts: true } },
        contents: [...contents],
      }
    },
    read: (stream) => {
      const parts = partsOf(stream)
      // It keeps no reasoning, only what stands beside words and calls.
      contents.push({ role: 'model', parts: parts.filter((part) => part['thought'] !== true) })
      let made = contents.length * 100
      return {
        text: spokenIn(parts),
        calls: parts.flatMap((part) => {
          const call = part['functionCall'] as Json | undefined
          if (!call) return []
          made += 1
          return [
            {
              id: String(call['id'] ?? `${String(call['name'])}-${made}`),
              name: String(call['name']),
              input: (call['args'] ?? {}) as Json,
            },
          ]
        }),
      }
    },
    // It keeps no answer that did not come to its end.
    interrupted: () => {},
    compact(model) {
      const { tools: _, ...request } = this.ask(model, { text: summaryPrompt })
      return { ...request, systemInstruction: { role: 'user', parts: [{ text: 'You summarise conversations.' }] } }
    },
    compacted: (stream) => {
      const text = spokenIn(partsOf(stream))
      contents.splice(0, contents.length, { role: 'user', parts: [{ text }] })
      contents.push({ role: 'model', parts: [{ text: 'Got it. Thanks for the additional context!' }] })
      return text
    },
  }
}

const partsOf = (stream: string): Json[] =>
  eventsOf(stream).flatMap((event) => {
    const [candidate] = (event['candidates'] ?? []) as { content?: { parts?: Json[] } }[]
    return candidate?.content?.parts ?? []
  })

const spokenIn = (parts: Json[]): string =>
  parts.flatMap((part) => (typeof part['text'] === 'string' && !part['thought'] ? [part['text']] : [])).join('')

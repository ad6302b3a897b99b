/** A function that the model may call; the reader plays it. */
export type FunctionTool = {
  name: string
  description: string
  /** JSON Schema of the arguments, as text. */
  parameters: string
}

export const emptySchema = '{\n  "type": "object",\n  "properties": {}\n}'

export const sampleTool: FunctionTool = {
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: JSON.stringify({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, null, 2),
}

export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/

export function schemaOf(text: string): Record<string, unknown> | undefined {
  try {
    const schema: unknown = JSON.parse(text)
    return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
      ? (schema as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

export type WireTool = {
  type: 'function'
  function: { name: string; description?: string; parameters: Record<string, unknown> }
}

/** What cannot be called is left out: one without a name, a repeated name, or arguments that are no schema. */
export function wireTools(tools: readonly FunctionTool[]): WireTool[] {
  const names = new Set<string>()
  return tools.flatMap(({ name, description, parameters }) => {
    const schema = schemaOf(parameters)
    if (!toolNamePattern.test(name) || schema === undefined || names.has(name)) return []
    names.add(name)
    return [{ type: 'function', function: { name, ...(description && { description }), parameters: schema } }]
  })
}

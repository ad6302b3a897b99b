export type JsonProblem = { message: string; line: number | undefined }

const lineAt = (source: string, position: number): number => source.slice(0, position).split('\n').length

/** Undefined where the text is JSON, or empty where that is allowed. */
export function jsonProblem(source: string, optional = false): JsonProblem | undefined {
  if (optional && source.trim() === '') return undefined
  try {
    JSON.parse(source)
    return undefined
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const position = /position (\d+)/.exec(message)?.[1]
    const line = /line (\d+)/.exec(message)?.[1]
    if (line !== undefined) return { message, line: Number(line) }
    return { message, line: position === undefined ? undefined : lineAt(source, Number(position)) }
  }
}

/** The same JSON with two spaces a level; what is not JSON stays as it is. */
export function formatJson(source: string): string {
  try {
    return JSON.stringify(JSON.parse(source), null, 2)
  } catch {
    return source
  }
}

/** One search of the web that a vendor ran for its model. */
export type WebSearch = {
  id: string
  queries: string[]
  /** Absent where the vendor does not tell what was found. */
  results?: SearchResult[] | undefined
  /** Why it found nothing, in the words of Claude's dialect. */
  error?: string | undefined
}
export type SearchResult = {
  url: string
  title?: string | undefined
  /** How old the page is, in words. */
  pageAge?: string | undefined
}

/** One call of a tool of a remote MCP server, which the vendor made for its model. */
export type McpCall = {
  id: string
  /** The name that the caller gave the server. */
  server: string
  name: string
  /** JSON text as the model wrote it. */
  arguments: string
  /** Absent where the call has no result yet. */
  output?: string | undefined
  isError?: boolean | undefined
}

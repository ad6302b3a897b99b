/** What a row may read of a request; values are as sent, see `read.ts` for lenient readers. */
export type RestRequest = {
  params: Record<string, string>
  query: Record<string, string | undefined>
  /** The parsed JSON body; `{}` when there is none. */
  body: Record<string, unknown>
}

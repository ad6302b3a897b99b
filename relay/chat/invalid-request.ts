/** The caller's body is not a request of its dialect: HTTP 400 in that dialect, with `code` where its error has one. */
export class InvalidRequest extends Error {
  override name = 'InvalidRequest'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

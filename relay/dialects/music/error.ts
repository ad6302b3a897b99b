/** A refusal of a task: a code word, a sentence, and no data. */
export type MusicError = {
  status: number
  code: string
  message: string
  /** Refusals that every route has in common say the same in the common form too. */
  isCommon: boolean
}

export const musicError = ({ status, code, message, isCommon }: MusicError) => ({
  status,
  body: {
    code,
    message,
    data: null,
    ...(isCommon ? { error: { message, type: 'gateway_error', param: null, code } } : {}),
  },
})

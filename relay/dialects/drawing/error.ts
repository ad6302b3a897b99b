import { submitCode } from '#core/tasks/drawing.ts'

/** A refusal of a drawing call: what its callers read, and beside it what every caller of the gateway reads. */
export type DrawingError = {
  status: number
  /** A word that callers compare, or a sentence. */
  description: string
  /** Follows the description. */
  result?: string | undefined
  code?: number | undefined
  /** Refusals that every route has in common say the same in the common form too. */
  common?: { message: string; code: string | number | null } | undefined
}

export function drawingError({ status, description, result = '', code, common }: DrawingError) {
  return {
    status,
    body: {
      description: [description, result].filter((part) => part !== '').join(' '),
      type: 'upstream_error',
      code: code ?? submitCode.badRequest,
      ...(common ? { error: { message: common.message, type: 'gateway_error', param: null, code: common.code } } : {}),
    },
  }
}
